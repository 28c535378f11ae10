#include "src/ops/rms_norm.h"

#include "src/ops/cases.h"
#include "src/ops/cost.h"
#include "src/ops/reference_math.h"
#include "src/ops/shape_rule.h"

namespace tboost::ops {
namespace {

Result<std::vector<ValueType>> Infer(std::span<const ValueType> inputs,
                                     std::span<const bool> present, const Attributes& attributes) {
  TBOOST_ASSIGN_OR_RETURN(const auto a,
                          ParseAttributes<RmsNormAttributes>(attributes, "rms_norm_grad"));
  ShapeRule rule(RmsNormGrad(), inputs, present);
  rule.Epsilon(a.eps).Count("groups", a.groups).Operand(2, "d");
  if (rule.ok()) rule.Set('k', rule.dim('d') * Dim(a.groups));
  rule.Operand(0, "tk").Operand(1, "tk");
  return rule.Outputs({"tk", "d"});
}

Status Reference(const RefCall& call) {
  const auto a = CheckedAttributes<RmsNormAttributes>(*call.attributes);
  const RefTensor &dy = *call.inputs[0].tensor, &x = *call.inputs[1].tensor,
                  &gamma = *call.inputs[2].tensor;
  const int64_t width = gamma.columns();
  for (int64_t part = 0; part < x.rows() * a.groups; ++part)
    NormGradientRow(kernels::NormKind::kRms, dy.data.data() + part * width,
                    x.data.data() + part * width, width, gamma.row(0), a.eps,
                    call.outputs[0].data.data() + part * width, call.outputs[1].row(0));
  return OkStatus();
}

std::vector<OpCase> Cases() {
  return {MakeCase("[3, 2 x 5]", {TensorType({3, 10}), TensorType({3, 10}), TensorType({5})},
                   MakeAttributes(RmsNormAttributes{1e-6, 2}))};
}

}  // namespace

const OpRecord& RmsNormGrad() {
  static const OpRecord record = {
      .name = "rms_norm_grad",
      .doc = "The gradients of rms_norm with respect to x and gamma.",
      .inputs = {{"dy"}, {"x"}, {"gamma"}},
      .outputs = {"dx", "dgamma"},
      .attributes = DescribeAttributes<RmsNormAttributes>(),
      .infer = Infer,
      .reference = Reference,
      .cost = ElementwiseCost<12>,
      .cases = Cases,
  };
  return record;
}

}  // namespace tboost::ops
