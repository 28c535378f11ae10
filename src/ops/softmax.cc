#include "src/ops/cases.h"
#include "src/ops/cost.h"
#include "src/ops/lowering.h"
#include "src/ops/ops.h"
#include "src/ops/reference_math.h"
#include "src/ops/shape_rule.h"

namespace tboost::ops {
namespace {

Result<std::vector<ValueType>> Infer(std::span<const ValueType> inputs,
                                     std::span<const bool> present, const Attributes& attributes) {
  TBOOST_RETURN_IF_ERROR(ParseAttributes<NoAttributes>(attributes, "softmax").status());
  ShapeRule rule(Softmax(), inputs, present);
  rule.Operand(0, "tk");
  return rule.Outputs({"tk"});
}

Status Reference(const RefCall& call) {
  RefTensor& y = call.outputs[0];
  y.data = call.inputs[0].tensor->data;
  for (int64_t t = 0; t < y.rows(); ++t) SoftmaxRow(y.row(t), y.columns());
  return OkStatus();
}

Result<std::vector<ValueId>> Gradient(const GradientContext& context) {
  TBOOST_ASSIGN_OR_RETURN(const ValueId dx,
                          context.graph->Add(SoftmaxGrad(), context.name,
                                             {context.output_gradients[0], context.outputs[0]}));
  return std::vector<ValueId>{dx};
}

Result<KernelCall> Lower(const LowerContext& context) {
  const TensorView &x = context.inputs[0], &y = context.outputs[0];
  kernels::SoftmaxArgs args;
  args.m = x.rows();
  args.k = x.shape.back();
  args.x = Floats(x);
  args.ldx = x.stride();
  args.out = MutableFloats(y);
  args.ldo = y.stride();
  return CallKernel("softmax", context.kernels->softmax, args);
}

std::vector<OpCase> Cases() {
  std::vector<OpCase> cases;
  for (const auto& [t, k] : {std::pair{1, 1}, {3, 16}, {4, 101}})
    cases.push_back(MakeCase(fmt::format("[{}, {}]", t, k), {TensorType({t, k})}));
  return cases;
}

}  // namespace

const OpRecord& Softmax() {
  static const OpRecord record = {
      .name = "softmax",
      .doc = "y = exp(x - max) / sum(exp(x - max)) for each row.",
      .inputs = {{"x"}},
      .outputs = {"y"},
      .attributes = {},
      .infer = Infer,
      .reference = Reference,
      .cost = ElementwiseCost<12>,
      .lower = Lower,
      .gradient = Gradient,
      .cases = Cases,
      .in_place_input = 0,
  };
  return record;
}

}  // namespace tboost::ops
