#include "src/passes/round_products.h"

#include "src/ops/linear_rope_kv.h"
#include "src/ops/shape_rule.h"
#include "src/passes/product.h"

namespace tboost {
namespace {

// The product of q, k and v, where all its weights are bf16.
Result<bool> RoundHeads(Graph& graph, NodeId id) {
  const Node node = graph.node(id);
  for (size_t i = 0; i < node.inputs.size(); ++i)
    if (node.inputs[i] != kNone && node.op->inputs[i].form == ConstantForm::kPanels &&
        graph.value(node.inputs[i]).type.dtype != DType::kBF16)
      return false;
  auto attributes = CheckedAttributes<ops::LinearRopeKvAttributes>(node.attributes);
  attributes.round_rows = true;
  TBOOST_RETURN_IF_ERROR(
      graph.Rewrite(id, ops::LinearRopeKv(), node.inputs, MakeAttributes(attributes)));
  return true;
}

}  // namespace

Result<int> RoundProducts(Graph& graph) {
  int products = 0;
  for (NodeId id = 0; id < graph.nodes().size(); ++id) {
    if (graph.node(id).op == &ops::LinearRopeKv()) {
      TBOOST_ASSIGN_OR_RETURN(const bool rounded, RoundHeads(graph, id));
      products += rounded;
    }
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
