#include "src/ops/add_norm.h"
#include "src/passes/pass.h"
#include "src/passes/product.h"

namespace tboost {
namespace {

Result<PassReport> Run(Graph& graph) {
  ValueId x, residual;
  const Pattern pattern = Op(kNorms, {Op("add", {Any(&x), Any(&residual)}), Constant(), Maybe()});
  return RewriteMatches(graph, pattern, [&](NodeId node) -> Rewriting {
    const RowNorm norm = ReadNorm(graph, node);
    if (norm.kind == kernels::NormKind::kNone) return Kept("rms_norm: it normalises parts of rows");
    if (norm.beta != kNone && !graph.value(norm.beta).constant)
      return Kept("layer_norm: operand 2 is not a constant");
    if (graph.value(residual).type != graph.value(x).type)
      return Kept("add: operand 1 is one row for all");
    TBOOST_RETURN_IF_ERROR(
        graph.Rewrite(node, ops::AddNorm(), {x, residual, norm.gamma, norm.beta},
                      MakeAttributes(ops::AddNormAttributes{norm.kind, norm.eps})));
    graph.ReplaceUses(norm.x, graph.node(node).outputs[1]);
    return Rewritten();
  });
}

}  // namespace

const Pass kFuseResidualNorm = {
    .name = "fuse_residual_norm",
    .doc = "norm(x + residual): one step, which gives the sum too.",
    .level = 1,
    .run = Run,
};

}  // namespace tboost
