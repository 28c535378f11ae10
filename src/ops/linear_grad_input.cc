#include "src/ops/cases.h"
#include "src/ops/cost.h"
#include "src/ops/ops.h"
#include "src/ops/shape_rule.h"

namespace tboost::ops {
namespace {

Result<std::vector<ValueType>> Infer(std::span<const ValueType> inputs,
                                     std::span<const bool> present, const Attributes& attributes) {
  TBOOST_RETURN_IF_ERROR(ParseAttributes<NoAttributes>(attributes, "linear_grad_input").status());
  ShapeRule rule(LinearGradInput(), inputs, present);
  rule.Operand(0, "tn").Weight(1, "nk");
  return rule.Outputs({"tk"});
}

Status Reference(const RefCall& call) {
  const RefTensor &dy = *call.inputs[0].tensor, &w = *call.inputs[1].tensor;
  RefTensor& dx = call.outputs[0];
  for (int64_t t = 0; t < dx.rows(); ++t)
    for (int64_t n = 0; n < dy.columns(); ++n)
      for (int64_t k = 0; k < dx.columns(); ++k) dx.row(t)[k] += dy.row(t)[n] * w.row(n)[k];
  return OkStatus();
}

// A product: two operations for each element of dy and column of the other operand.
Cost ProductCost(std::span<const TensorView> inputs, std::span<const TensorView> outputs,
                 const Attributes&) {
  const double columns = static_cast<double>(inputs[1].shape.back());
  return StreamCost(inputs, outputs, 2 * columns * static_cast<double>(inputs[0].shape.elements()));
}

std::vector<OpCase> Cases() {
  return {MakeCase("t3 n5 k7", {TensorType({3, 5}), TensorType({5, 7})})};
}

}  // namespace

const OpRecord& LinearGradInput() {
  static const OpRecord record = {
      .name = "linear_grad_input",
      .doc = "dx = dy W: the gradient of linear with respect to x.",
      .inputs = {{"dy"}, {"w"}},
      .outputs = {"dx"},
      .attributes = {},
      .infer = Infer,
      .reference = Reference,
      .cost = ProductCost,
      .cases = Cases,
  };
  return record;
}

}  // namespace tboost::ops
