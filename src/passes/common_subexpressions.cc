#include <algorithm>
#include <map>

#include "src/passes/pass.h"

namespace tboost {
namespace {

// Constants of one type and one recipe become one.
int MergeConstants(Graph& graph) {
  int merged = 0;
  std::map<std::string, ValueId> known;
  for (ValueId id = 0; id < graph.values().size(); ++id) {
    const Value& value = graph.value(id);
    if (!value.constant || graph.UseCount(id) == 0) continue;
    const auto [first, added] = known.try_emplace(ToText(value.type) + ToText(*value.constant), id);
    if (added) continue;
    graph.ReplaceUses(id, first->second);
    ++merged;
  }
  return merged;
}

// Nodes of one operator, with the same operands and attributes, become one. Producers come first in
// the graph, so operands are merged before those that read them.
int MergeNodes(Graph& graph) {
  int merged = 0;
  std::map<std::pair<const OpRecord*, std::vector<ValueId>>, std::vector<NodeId>> known;
  for (NodeId id = 0; id < graph.nodes().size(); ++id) {
    const Node& node = graph.node(id);
    if (!node.op) continue;
    std::vector<NodeId>& same = known[{node.op, node.inputs}];
    const auto first = std::find_if(same.begin(), same.end(), [&](NodeId other) {
      return graph.node(other).attributes == node.attributes;
    });
    if (first == same.end()) {
      same.push_back(id);
      continue;
    }
    for (size_t i = 0; i < node.outputs.size(); ++i)
      graph.ReplaceUses(node.outputs[i], graph.node(*first).outputs[i]);
    graph.RemoveNode(id);
    ++merged;
  }
  return merged;
}

}  // namespace

const Pass kCommonSubexpressions = {
    .name = "common_subexpressions",
    .doc = "Merges equal constants, and nodes of equal operator, operands and attributes.",
    .level = 1,
    .run = [](Graph& graph) -> Result<PassReport> {
      const int constants = MergeConstants(graph);
      return PassReport{constants + MergeNodes(graph), {}};
    },
};

}  // namespace tboost
