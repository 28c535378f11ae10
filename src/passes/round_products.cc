#include "src/passes/round_products.h"

#include "src/passes/product.h"

namespace tboost {

Result<int> RoundProducts(Graph& graph) {
  int products = 0;
  for (NodeId id = 0; id < graph.nodes().size(); ++id) {
    if (!IsProduct(graph.node(id))) continue;
    Product product = ReadProduct(graph, id);
    if (graph.value(product.w).type.dtype != DType::kBF16) continue;
    product.attributes.round_rows = true;
    TBOOST_RETURN_IF_ERROR(WriteProduct(graph, id, product));
    ++products;
  }
  TBOOST_RETURN_IF_ERROR(Verify(graph));
  return products;
}

}  // namespace tboost
