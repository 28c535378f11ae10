#include "src/ops/cases.h"
#include "src/ops/cost.h"
#include "src/ops/ops.h"
#include "src/ops/reference_math.h"
#include "src/ops/shape_rule.h"

namespace tboost::ops {
namespace {

Result<std::vector<ValueType>> Infer(std::span<const ValueType> inputs,
                                     std::span<const bool> present, const Attributes& attributes) {
  TBOOST_RETURN_IF_ERROR(ParseAttributes<NoAttributes>(attributes, "softmax_grad").status());
  ShapeRule rule(SoftmaxGrad(), inputs, present);
  rule.Operand(0, "tk").Operand(1, "tk");
  return rule.Outputs({"tk"});
}

Status Reference(const RefCall& call) {
  const RefTensor &dy = *call.inputs[0].tensor, &y = *call.inputs[1].tensor;
  for (int64_t t = 0; t < y.rows(); ++t)
    SoftmaxGradientRow(dy.row(t), y.row(t), y.columns(), call.outputs[0].row(t));
  return OkStatus();
}

std::vector<OpCase> Cases() {
  return {MakeCase("[3, 9]", {TensorType({3, 9}), TensorType({3, 9})})};
}

}  // namespace

const OpRecord& SoftmaxGrad() {
  static const OpRecord record = {
      .name = "softmax_grad",
      .doc = "dx = y * (dy - sum(dy * y)) for each row: the gradient of softmax, y its result.",
      .inputs = {{"dy"}, {"y"}},
      .outputs = {"dx"},
      .attributes = {},
      .infer = Infer,
      .reference = Reference,
      .cost = ElementwiseCost<4>,
      .cases = Cases,
  };
  return record;
}

}  // namespace tboost::ops
