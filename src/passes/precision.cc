#include "src/passes/precision.h"

#include <algorithm>
#include <map>

#include "src/kernels/kernels.h"
#include "src/passes/product.h"
#include "src/tensor/view.h"

namespace tboost {
namespace {

// Why a product's weights keep their format; empty where they need not.
std::string ReasonToKeep(const Graph& graph, ValueId w) {
  const Value& weights = graph.value(w);
  if (!weights.constant) return "its weights are no constant";
  for (NodeId user : graph.Users(w))
    if (!IsProduct(graph.node(user)))
      return fmt::format("{} reads its weights too", graph.node(user).op->name);
  if (weights.constant->columns > kernels::kMostInt8K)
    return fmt::format("sums of {} products", weights.constant->columns);
  return "";
}

Result<TensorView> ViewAt(const Graph& graph, ValueId id, const SymbolValues& symbols) {
  TensorView view;
  if (id == kNone) return view;
  view.dtype = graph.value(id).type.dtype;
  for (const Dim& dim : graph.value(id).type.shape) {
    TBOOST_ASSIGN_OR_RETURN(const int64_t size, dim.Evaluate(symbols));
    view.shape.push_back(size);
  }
  return view;
}

// Operations of a node in a step.
Result<double> Operations(const Graph& graph, const Node& node, const SymbolValues& symbols) {
  if (!node.op->cost) return 0.0;
  std::vector<TensorView> inputs, outputs;
  for (ValueId id : node.inputs) {
    TBOOST_ASSIGN_OR_RETURN(inputs.emplace_back(), ViewAt(graph, id, symbols));
  }
  for (ValueId id : node.outputs) {
    TBOOST_ASSIGN_OR_RETURN(outputs.emplace_back(), ViewAt(graph, id, symbols));
  }
  return node.op->cost(inputs, outputs, node.attributes).flops;
}

// Of the operations of a sequence, those of products in `format`.
Result<double> ShareOf(const Graph& graph, DType format) {
  const SymbolValues symbols = {{"tokens", kPrecisionTokens}, {"sequences", 1}, {"outputs", 1}};
  double all = 0, in_format = 0;
  for (const Node& node : graph.nodes()) {
    TBOOST_ASSIGN_OR_RETURN(const double operations, Operations(graph, node, symbols));
    all += operations;
    if (IsProduct(node) && graph.value(node.inputs[1]).type.dtype == format)
      in_format += operations;
  }
  return all > 0 ? in_format / all : 0;
}

}  // namespace

Result<PrecisionReport> QuantizeProducts(Graph& graph, DType format) {
  PrecisionReport report;
  std::map<ValueId, ValueId> converted;  // weights that several products read are converted once
  const auto count = static_cast<NodeId>(graph.nodes().size());
  for (NodeId id = 0; id < count; ++id) {
    const Node& node = graph.node(id);
    if (!node.op || !IsProduct(node)) continue;
    std::vector<ValueId> inputs = node.inputs;
    const ValueId w = inputs[1];
    if (!converted.contains(w)) {
      std::string reason = ReasonToKeep(graph, w);
      if (!reason.empty()) {
        report.kept.push_back({node.name, std::move(reason)});
        continue;
      }
      const Value& value = graph.value(w);
      TBOOST_ASSIGN_OR_RETURN(RecipePtr recipe, Cast(value.constant, format));
      ValueType type = value.type;
      type.dtype = format;
      converted[w] = graph.AddConstant(fmt::format("{}.{}", value.name, DTypeName(format)),
                                       std::move(type), std::move(recipe));
    }
    inputs[1] = converted[w];
    const Attributes attributes = node.attributes;
    TBOOST_RETURN_IF_ERROR(graph.Rewrite(id, *node.op, std::move(inputs), attributes));
    ++report.products;
  }
  TBOOST_RETURN_IF_ERROR(graph.Compact());
  TBOOST_RETURN_IF_ERROR(Verify(graph));
  TBOOST_ASSIGN_OR_RETURN(report.share, ShareOf(graph, format));
  return report;
}

}  // namespace tboost
