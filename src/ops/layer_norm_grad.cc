#include "src/ops/layer_norm.h"

#include "src/ops/cases.h"
#include "src/ops/cost.h"
#include "src/ops/reference_math.h"
#include "src/ops/shape_rule.h"

namespace tboost::ops {
namespace {

Result<std::vector<ValueType>> Infer(std::span<const ValueType> inputs,
                                     std::span<const bool> present, const Attributes& attributes) {
  TBOOST_ASSIGN_OR_RETURN(const auto a,
                          ParseAttributes<LayerNormAttributes>(attributes, "layer_norm_grad"));
  ShapeRule rule(LayerNormGrad(), inputs, present);
  rule.Epsilon(a.eps).Operand(0, "tk").Operand(1, "tk").Operand(2, "k");
  return rule.Outputs({"tk", "k", "k"});
}

Status Reference(const RefCall& call) {
  const auto a = CheckedAttributes<LayerNormAttributes>(*call.attributes);
  const RefTensor &dy = *call.inputs[0].tensor, &x = *call.inputs[1].tensor;
  for (int64_t t = 0; t < x.rows(); ++t) {
    NormGradientRow(kernels::NormKind::kLayer, dy.row(t), x.row(t), x.columns(),
                    call.inputs[2].tensor->row(0), a.eps, call.outputs[0].row(t),
                    call.outputs[1].row(0));
    for (int64_t k = 0; k < x.columns(); ++k) call.outputs[2].data[k] += dy.row(t)[k];
  }
  return OkStatus();
}

std::vector<OpCase> Cases() {
  return {MakeCase("[3, 10]", {TensorType({3, 10}), TensorType({3, 10}), TensorType({10})})};
}

}  // namespace

const OpRecord& LayerNormGrad() {
  static const OpRecord record = {
      .name = "layer_norm_grad",
      .doc = "The gradients of layer_norm with respect to x, gamma and beta.",
      .inputs = {{"dy"}, {"x"}, {"gamma"}},
      .outputs = {"dx", "dgamma", "dbeta"},
      .attributes = DescribeAttributes<LayerNormAttributes>(),
      .infer = Infer,
      .reference = Reference,
      .cost = ElementwiseCost<16>,
      .cases = Cases,
  };
  return record;
}

}  // namespace tboost::ops
