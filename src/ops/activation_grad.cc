#include "src/ops/activation.h"

#include "src/ops/cases.h"
#include "src/ops/cost.h"
#include "src/ops/reference_math.h"
#include "src/ops/shape_rule.h"

namespace tboost::ops {
namespace {

Result<std::vector<ValueType>> Infer(std::span<const ValueType> inputs,
                                     std::span<const bool> present, const Attributes& attributes) {
  TBOOST_RETURN_IF_ERROR(
      ParseAttributes<ActivationAttributes>(attributes, "activation_grad").status());
  ShapeRule rule(ActivationGrad(), inputs, present);
  rule.Operand(0, "tk").Operand(1, "tk");
  return rule.Outputs({"tk"});
}

Status Reference(const RefCall& call) {
  const auto a = CheckedAttributes<ActivationAttributes>(*call.attributes);
  const RefTensor &dy = *call.inputs[0].tensor, &x = *call.inputs[1].tensor;
  for (size_t i = 0; i < x.data.size(); ++i)
    call.outputs[0].data[i] = dy.data[i] * ActivateGradient(a.kind, x.data[i]);
  return OkStatus();
}

std::vector<OpCase> Cases() {
  return {MakeCase("gelu_erf", {TensorType({3, 9}), TensorType({3, 9})},
                   MakeAttributes(ActivationAttributes{kernels::Activation::kGeluErf}))};
}

}  // namespace

const OpRecord& ActivationGrad() {
  static const OpRecord record = {
      .name = "activation_grad",
      .doc = "dx = dy * kind'(x) elementwise: the gradient of activation.",
      .inputs = {{"dy"}, {"x"}},
      .outputs = {"dx"},
      .attributes = DescribeAttributes<ActivationAttributes>(),
      .infer = Infer,
      .reference = Reference,
      .cost = ElementwiseCost<12>,
      .cases = Cases,
  };
  return record;
}

}  // namespace tboost::ops
