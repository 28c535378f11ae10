// Products (linear and fused_linear) and norms as plain structs, for the passes that fuse them.
#pragma once

#include <span>
#include <string>

#include "src/graph/recipe_builders.h"
#include "src/ops/fused_linear.h"

namespace tboost {

// The operators that ReadProduct and ReadNorm read, as a pattern names them.
inline constexpr std::string_view kProducts = "linear|fused_linear";
inline constexpr std::string_view kNorms = "layer_norm|rms_norm";

bool IsProduct(const Node& node);
bool IsNorm(const Node& node);

// The operands of a product, in the order of fused_linear; kNone where absent.
struct Product {
  ValueId x = kNone, w = kNone, bias = kNone, gamma = kNone, beta = kNone, residual = kNone;
  ops::FusedLinearAttributes attributes;
};
Product ReadProduct(const Graph& graph, NodeId node);
// Makes `node` a fused_linear of these operands.
Status WriteProduct(Graph& graph, NodeId node, const Product& product);

// A norm over whole rows.
struct RowNorm {
  kernels::NormKind kind = kernels::NormKind::kNone;  // kNone: it normalises parts of rows
  ValueId x = kNone, gamma = kNone, beta = kNone;
  double eps = 0;
};
RowNorm ReadNorm(const Graph& graph, NodeId node);

// Several products' weights as one constant and their biases as another (zeros where only some have
// one, kNone where none has), put together by `combine`: ConcatRows or InterleaveRows. Weights and
// biases are constants. A failure says what does not fit; the graph is then as it was.
struct CombinedWeights {
  ValueId w = kNone, bias = kNone;
};
Result<CombinedWeights> CombineWeights(Graph& graph, std::span<const Product> products,
                                       std::string_view suffix,
                                       Result<RecipePtr> (*combine)(std::vector<RecipePtr>));

}  // namespace tboost
