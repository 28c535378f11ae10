#include "src/ops/embedding.h"

#include <cmath>

#include "src/ops/cases.h"
#include "src/ops/cost.h"
#include "src/ops/reference_math.h"
#include "src/ops/shape_rule.h"

namespace tboost::ops {
namespace {

Result<std::vector<ValueType>> Infer(std::span<const ValueType> inputs,
                                     std::span<const bool> present, const Attributes& attributes) {
  TBOOST_ASSIGN_OR_RETURN(const auto a,
                          ParseAttributes<EmbeddingAttributes>(attributes, "embedding_grad"));
  ShapeRule rule(EmbeddingGrad(), inputs, present);
  rule.Require(std::isfinite(a.scale), "scale is {}", a.scale);
  rule.Weight(2, "vk").Operand(1, "t", DType::kI32).Operand(0, "tk");
  return rule.Outputs({"vk"});
}

Status Reference(const RefCall& call) {
  const auto a = CheckedAttributes<EmbeddingAttributes>(*call.attributes);
  const RefTensor &dy = *call.inputs[0].tensor, &ids = *call.inputs[1].tensor;
  RefTensor& table = call.outputs[0];
  for (int64_t t = 0; t < dy.rows(); ++t) {
    TBOOST_ASSIGN_OR_RETURN(const int64_t id,
                            RowIndex("embedding_grad", ids.data[t], table.rows()));
    for (int64_t k = 0; k < dy.columns(); ++k) table.row(id)[k] += a.scale * dy.row(t)[k];
  }
  return OkStatus();
}

std::vector<OpCase> Cases() {
  OpCase repeated = MakeCase("7 of 5 rows",
                             {TensorType({7, 6}), TensorType({7}, DType::kI32), TensorType({5, 6})},
                             MakeAttributes(EmbeddingAttributes{2}));
  repeated.index_limit = 5;
  return {repeated};
}

}  // namespace

const OpRecord& EmbeddingGrad() {
  static const OpRecord record = {
      .name = "embedding_grad",
      .doc =
          "dtable[ids[t]] += scale * dy[t]: the gradient of embedding. The table gives the shape.",
      .inputs = {{"dy"}, {"ids"}, {"table"}},
      .outputs = {"dtable"},
      .attributes = DescribeAttributes<EmbeddingAttributes>(),
      .infer = Infer,
      .reference = Reference,
      .cost = ElementwiseCost<2>,
      .cases = Cases,
  };
  return record;
}

}  // namespace tboost::ops
