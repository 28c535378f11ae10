#include "src/passes/dead_code.h"

#include "src/passes/pass.h"

namespace tboost {

int RemoveDeadNodes(Graph& graph) {
  std::vector<bool> live(graph.nodes().size());
  std::vector<NodeId> pending;
  const auto need = [&](ValueId value) {
    if (value == kNone) return;
    const NodeId producer = graph.value(value).producer;
    if (producer == kNone || live[producer]) return;
    live[producer] = true;
    pending.push_back(producer);
  };
  for (const auto& [name, value] : graph.outputs()) need(value);
  while (!pending.empty()) {
    const NodeId id = pending.back();
    pending.pop_back();
    for (const ValueId input : graph.node(id).inputs) need(input);
  }
  int removed = 0;
  for (NodeId id = 0; id < graph.nodes().size(); ++id) {
    if (live[id] || !graph.node(id).op) continue;
    graph.RemoveNode(id);
    ++removed;
  }
  return removed;
}

const Pass kDeadCode = {
    .name = "dead_code",
    .doc = "Removes nodes that no output of the graph needs.",
    .level = 0,
    .run = [](Graph& graph) -> Result<PassReport> {
      return PassReport{RemoveDeadNodes(graph), {}};
    },
};

}  // namespace tboost
