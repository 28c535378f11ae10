#include "src/ops/activation.h"
#include "src/ops/shape_rule.h"
#include "src/passes/pass.h"
#include "src/passes/product.h"

namespace tboost {
namespace {

Result<PassReport> Run(Graph& graph) {
  NodeId activation, gate, up;
  const auto product = [](NodeId* node) {
    return Op("linear", {Any(), Constant(), Maybe()}).SingleUse().Capture(node);
  };
  const Pattern pattern =
      Op("mul", {Op("activation", {product(&gate)}).SingleUse().Capture(&activation), product(&up)})
          .Commutative();
  return RewriteMatches(graph, pattern, [&](NodeId node) -> Rewriting {
    const Product parts[] = {ReadProduct(graph, gate), ReadProduct(graph, up)};
    if (parts[0].x != parts[1].x) return Kept("gate and up are products of different values");
    for (const Product& part : parts)
      if (part.bias != kNone && !graph.value(part.bias).constant)
        return Kept("a bias is not a constant");
    const auto weights = CombineWeights(graph, parts, "gated", InterleaveRows);
    if (!weights.ok()) return Kept(weights.status().message());
    Product fused;
    fused.x = parts[0].x;
    fused.w = weights->w;
    fused.bias = weights->bias;
    fused.attributes.gated = true;
    fused.attributes.activation =
        CheckedAttributes<ops::ActivationAttributes>(graph.node(activation).attributes).kind;
    TBOOST_RETURN_IF_ERROR(WriteProduct(graph, node, fused));
    return Rewritten();
  });
}

}  // namespace

const Pass kFuseGatedFfn = {
    .name = "fuse_gated_ffn",
    .doc = "activation(linear gate) * linear up of one value: one product of interleaved weights.",
    .level = 2,
    .run = Run,
};

}  // namespace tboost
