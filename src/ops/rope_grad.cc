#include "src/ops/rope.h"

#include "src/ops/cases.h"
#include "src/ops/cost.h"
#include "src/ops/shape_rule.h"

namespace tboost::ops {
namespace {

Result<std::vector<ValueType>> Infer(std::span<const ValueType> inputs,
                                     std::span<const bool> present, const Attributes& attributes) {
  TBOOST_ASSIGN_OR_RETURN(const auto a, ParseAttributes<RopeAttributes>(attributes, "rope_grad"));
  ShapeRule rule(RopeGrad(), inputs, present);
  CheckRope(a, rule);
  rule.Operand(0, "th").Operand(1, "tr");
  CheckRotaryDim(a.head_dim, rule);
  return rule.Outputs({"th"});
}

Status Reference(const RefCall& call) {
  const auto a = CheckedAttributes<RopeAttributes>(*call.attributes);
  const RefTensor &dy = *call.inputs[0].tensor, &angles = *call.inputs[1].tensor;
  call.outputs[0].data = dy.data;
  RotateRows(angles, a, true, call.outputs[0]);
  return OkStatus();
}

std::vector<OpCase> Cases() {
  return {MakeCase("2 heads of 6", {TensorType({3, 12}), TensorType({3, 4})},
                   MakeAttributes(RopeAttributes{2, 6}))};
}

}  // namespace

const OpRecord& RopeGrad() {
  static const OpRecord record = {
      .name = "rope_grad",
      .doc = "Rotates back by the angles that rope rotated by: its gradient.",
      .inputs = {{"dy"}, {"angles"}},
      .outputs = {"dx"},
      .attributes = DescribeAttributes<RopeAttributes>(),
      .infer = Infer,
      .reference = Reference,
      .cost = ElementwiseCost<3>,
      .cases = Cases,
  };
  return record;
}

}  // namespace tboost::ops
