#include <map>

#include "src/ops/columns.h"
#include "src/passes/pass.h"
#include "src/passes/product.h"

namespace tboost {
namespace {

// Why a linear cannot be one of several; empty: it can.
std::string WhyAlone(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  if (!graph.value(node.inputs[1]).constant) return "linear: operand 1 is not a constant";
  if (node.inputs[2] != kNone && !graph.value(node.inputs[2]).constant)
    return "linear: operand 2 is not a constant";
  if (graph.IsOutput(node.outputs[0])) return "linear: its result is a graph output";
  return {};
}

// One product in front of all of `nodes`, which become views of its columns.
Status Join(Graph& graph, std::span<const NodeId> nodes) {
  std::vector<Product> products;
  for (const NodeId id : nodes) products.push_back(ReadProduct(graph, id));
  TBOOST_ASSIGN_OR_RETURN(const CombinedWeights weights,
                          CombineWeights(graph, products, "joined", ConcatRows));
  graph.SetProvenance(graph.node(nodes[0]).provenance);
  const auto joined = graph.Add(ops::Linear(), graph.node(nodes[0]).name + ".joined",
                                {products[0].x, weights.w, weights.bias});
  graph.SetProvenance("");
  TBOOST_RETURN_IF_ERROR(joined.status());
  int64_t begin = 0;
  for (const NodeId id : nodes) {
    const ValueType& type = graph.value(graph.node(id).outputs[0]).type;
    const int64_t count = type.shape.back().constant().value_or(0);
    TBOOST_RETURN_IF_ERROR(graph.Rewrite(id, ops::Columns(), {*joined},
                                         MakeAttributes(ops::ColumnsAttributes{begin, count})));
    begin += count;
  }
  return OkStatus();
}

// The linears that read `x`, by the format of their weights.
using Groups = std::map<DType, std::vector<NodeId>>;
Groups LinearsOf(const Graph& graph, ValueId x, PassReport& report) {
  std::vector<NodeId> linears;
  for (const NodeId user : graph.Users(x)) {
    const Node& node = graph.node(user);
    if (node.op == &ops::Linear() && node.inputs[0] == x && node.inputs[1] != x)
      linears.push_back(user);
  }
  Groups groups;
  if (linears.size() < 2) return groups;
  for (const NodeId id : linears) {
    const Node& node = graph.node(id);
    if (std::string reason = WhyAlone(graph, id); !reason.empty())
      report.missed.push_back({node.name, std::move(reason)});
    else
      groups[graph.value(node.inputs[1]).type.dtype].push_back(id);
  }
  return groups;
}

Result<PassReport> Run(Graph& graph) {
  PassReport report;
  const auto count = static_cast<ValueId>(graph.values().size());
  for (ValueId x = 0; x < count; ++x) {
    for (const auto& [dtype, nodes] : LinearsOf(graph, x, report)) {
      if (nodes.size() == 1) {
        report.missed.push_back(
            {graph.node(nodes[0]).name,
             fmt::format("linear: operand 1 is {}, others' of this input are not",
                         DTypeName(dtype))});
        continue;
      }
      TBOOST_RETURN_IF_ERROR(Join(graph, nodes));
      ++report.changes;
    }
  }
  return report;
}

}  // namespace

const Pass kFuseQkv = {
    .name = "fuse_qkv",
    .doc = "Linears of one value (queries, keys and values): one product, whose columns they are.",
    .level = 1,
    .run = Run,
};

}  // namespace tboost
