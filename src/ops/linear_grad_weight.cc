#include "src/ops/cases.h"
#include "src/ops/cost.h"
#include "src/ops/ops.h"
#include "src/ops/shape_rule.h"

namespace tboost::ops {
namespace {

Result<std::vector<ValueType>> Infer(std::span<const ValueType> inputs,
                                     std::span<const bool> present, const Attributes& attributes) {
  TBOOST_RETURN_IF_ERROR(ParseAttributes<NoAttributes>(attributes, "linear_grad_weight").status());
  ShapeRule rule(LinearGradWeight(), inputs, present);
  rule.Operand(0, "tn").Operand(1, "tk");
  return rule.Outputs({"nk"});
}

Status Reference(const RefCall& call) {
  const RefTensor &dy = *call.inputs[0].tensor, &x = *call.inputs[1].tensor;
  RefTensor& dw = call.outputs[0];
  for (int64_t t = 0; t < dy.rows(); ++t)
    for (int64_t n = 0; n < dy.columns(); ++n)
      for (int64_t k = 0; k < x.columns(); ++k) dw.row(n)[k] += dy.row(t)[n] * x.row(t)[k];
  return OkStatus();
}

// A product: two operations for each element of dy and column of the other operand.
Cost ProductCost(std::span<const TensorView> inputs, std::span<const TensorView> outputs,
                 const Attributes&) {
  const double columns = static_cast<double>(inputs[1].shape.back());
  return StreamCost(inputs, outputs, 2 * columns * static_cast<double>(inputs[0].shape.elements()));
}

std::vector<OpCase> Cases() {
  return {MakeCase("t3 n5 k7", {TensorType({3, 5}), TensorType({3, 7})})};
}

}  // namespace

const OpRecord& LinearGradWeight() {
  static const OpRecord record = {
      .name = "linear_grad_weight",
      .doc = "dW = dy^T x: the gradient of linear with respect to its weight.",
      .inputs = {{"dy"}, {"x"}},
      .outputs = {"dw"},
      .attributes = {},
      .infer = Infer,
      .reference = Reference,
      .cost = ProductCost,
      .cases = Cases,
  };
  return record;
}

}  // namespace tboost::ops
