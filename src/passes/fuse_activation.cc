#include "src/ops/activation.h"
#include "src/ops/shape_rule.h"
#include "src/passes/pass.h"
#include "src/passes/product.h"

namespace tboost {
namespace {

Result<PassReport> Run(Graph& graph) {
  NodeId product;
  const Pattern pattern =
      Op("activation", {Op("linear", {Any(), Any(), Maybe()}).SingleUse().Capture(&product)});
  return RewriteMatches(graph, pattern, [&](NodeId node) -> Rewriting {
    Product fused = ReadProduct(graph, product);
    fused.attributes.activation =
        CheckedAttributes<ops::ActivationAttributes>(graph.node(node).attributes).kind;
    TBOOST_RETURN_IF_ERROR(WriteProduct(graph, node, fused));
    return Rewritten();
  });
}

}  // namespace

const Pass kFuseActivation = {
    .name = "fuse_activation",
    .doc = "activation(linear): applied to the product's result before it is stored.",
    .level = 1,
    .run = Run,
};

}  // namespace tboost
