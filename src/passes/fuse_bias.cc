#include "src/passes/pass.h"
#include "src/passes/product.h"

namespace tboost {
namespace {

bool IsVector(const Graph& graph, ValueId value) {
  return graph.value(value).type.shape.size() == 1;
}

Result<PassReport> Run(Graph& graph) {
  ValueId x, w, bias;
  const Pattern pattern = Op("add", {Op("linear", {Any(&x), Any(&w)}).SingleUse(),
                                     Constant(&bias).Where("has more than one row", IsVector)})
                              .Commutative();
  return RewriteMatches(graph, pattern, [&](NodeId node) -> Rewriting {
    TBOOST_RETURN_IF_ERROR(graph.Rewrite(node, ops::Linear(), {x, w, bias}, {}));
    return Rewritten();
  });
}

}  // namespace

const Pass kFuseBias = {
    .name = "fuse_bias",
    .doc = "linear + row: the row becomes the bias of the product.",
    .level = 1,
    .run = Run,
};

}  // namespace tboost
