// Weights of products in int8: the one change of a graph that changes its results.
#pragma once

#include <vector>

#include "src/passes/pass.h"

namespace tboost {

struct PrecisionReport {
  int products = 0;          // in the new format
  std::vector<Missed> kept;  // products that stay as they are
  // Of all multiplications and additions of a sequence of kPrecisionTokens tokens, those in the new
  // format.
  double share = 0;
};
inline constexpr int64_t kPrecisionTokens = 128;

// Gives the weights of every product (linear, fused_linear) the format int8 or int7; products then
// round the rows of their input to 8 bits. Tables that embeddings read too stay, and so does all
// else. The graph is compacted and verified.
Result<PrecisionReport> QuantizeProducts(Graph& graph, DType format);

}  // namespace tboost
