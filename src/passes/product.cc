#include "src/passes/product.h"

#include <algorithm>
#include <array>

#include "src/ops/layer_norm.h"
#include "src/ops/rms_norm.h"
#include "src/ops/shape_rule.h"

namespace tboost {
namespace {

// The rows of a weight: its dimensions are constants.
int64_t Rows(const Graph& graph, ValueId w) {
  return graph.value(w).type.shape[0].constant().value_or(0);
}

// A constant of `recipe`, a matrix or a column that stands for a vector.
ValueId AddCombined(Graph& graph, ValueId first, std::string_view suffix, RecipePtr recipe) {
  ValueType type = graph.value(first).type;
  type.dtype = recipe->dtype;
  type.shape[0] = recipe->rows;
  return graph.AddConstant(fmt::format("{}.{}", graph.value(first).name, suffix), std::move(type),
                           std::move(recipe));
}

}  // namespace

bool IsProduct(const Node& node) {
  return node.op == &ops::Linear() || node.op == &ops::FusedLinear();
}

bool IsNorm(const Node& node) { return node.op == &ops::LayerNorm() || node.op == &ops::RmsNorm(); }

Product ReadProduct(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  Product out;
  const std::array operands = {&out.x, &out.w, &out.bias, &out.gamma, &out.beta, &out.residual};
  for (size_t i = 0; i < node.inputs.size(); ++i) *operands[i] = node.inputs[i];
  if (node.op == &ops::FusedLinear())
    out.attributes = CheckedAttributes<ops::FusedLinearAttributes>(node.attributes);
  return out;
}

Status WriteProduct(Graph& graph, NodeId node, const Product& p) {
  return graph.Rewrite(node, ops::FusedLinear(), {p.x, p.w, p.bias, p.gamma, p.beta, p.residual},
                       MakeAttributes(p.attributes));
}

RowNorm ReadNorm(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  RowNorm out;
  out.x = node.inputs[0];
  out.gamma = node.inputs[1];
  if (node.op == &ops::LayerNorm()) {
    out.kind = kernels::NormKind::kLayer;
    out.beta = node.inputs[2];
    out.eps = CheckedAttributes<ops::LayerNormAttributes>(node.attributes).eps;
    return out;
  }
  const auto attributes = CheckedAttributes<ops::RmsNormAttributes>(node.attributes);
  if (attributes.groups == 1) out.kind = kernels::NormKind::kRms;
  out.eps = attributes.eps;
  return out;
}

Result<CombinedWeights> CombineWeights(Graph& graph, std::span<const Product> products,
                                       std::string_view suffix,
                                       Result<RecipePtr> (*combine)(std::vector<RecipePtr>)) {
  std::vector<RecipePtr> weights, biases;
  ValueId a_bias = kNone;
  for (const Product& p : products) {
    weights.push_back(graph.value(p.w).constant);
    if (a_bias == kNone) a_bias = p.bias;
  }
  for (const Product& p : products) {
    if (a_bias == kNone) break;
    const int64_t rows = Rows(graph, p.w);
    TBOOST_ASSIGN_OR_RETURN(biases.emplace_back(),
                            p.bias == kNone ? InlineRecipe(rows, 1, std::vector<float>(rows))
                                            : AsColumn(graph.value(p.bias).constant));
  }
  TBOOST_ASSIGN_OR_RETURN(RecipePtr weight, combine(std::move(weights)));
  CombinedWeights out;
  if (a_bias != kNone) {
    TBOOST_ASSIGN_OR_RETURN(RecipePtr bias, combine(std::move(biases)));
    out.bias = AddCombined(graph, a_bias, suffix, std::move(bias));
  }
  out.w = AddCombined(graph, products[0].w, suffix, std::move(weight));
  return out;
}

}  // namespace tboost
