#include <algorithm>

#include "src/passes/pass.h"
#include "src/passes/product.h"

namespace tboost {
namespace {

// A sum that only a norm reads belongs to that norm (add_norm), unless the norm itself goes into
// products.
bool BelongsToNorm(const Graph& graph, ValueId sum) {
  if (graph.UseCount(sum) != 1 || graph.Users(sum).empty()) return false;
  const Node& user = graph.node(graph.Users(sum)[0]);
  if (!IsNorm(user)) return false;
  const auto readers = graph.Users(user.outputs[0]);
  return graph.IsOutput(user.outputs[0]) ||
         !std::ranges::all_of(readers, [&](NodeId id) { return IsProduct(graph.node(id)); });
}

Result<PassReport> Run(Graph& graph) {
  NodeId product;
  ValueId residual;
  const Pattern pattern =
      Op("add",
         {Op(kProducts, {Any(), Any(), Maybe(), Maybe(), Maybe()}).SingleUse().Capture(&product),
          Any(&residual)})
          .Commutative();
  return RewriteMatches(graph, pattern, [&](NodeId node) -> Rewriting {
    const ValueId sum = graph.node(node).outputs[0];
    if (graph.value(residual).type != graph.value(sum).type)
      return Kept("add: the residual has another shape than the sum");
    if (BelongsToNorm(graph, sum)) return Kept("add: only a norm reads the sum");
    Product fused = ReadProduct(graph, product);
    fused.residual = residual;
    TBOOST_RETURN_IF_ERROR(WriteProduct(graph, node, fused));
    return Rewritten();
  });
}

}  // namespace

const Pass kFuseResidual = {
    .name = "fuse_residual",
    .doc = "product + residual: added while the product's result is in registers.",
    .level = 1,
    .run = Run,
};

}  // namespace tboost
