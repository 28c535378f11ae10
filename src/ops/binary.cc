#include "src/ops/binary.h"

#include "src/ops/cases.h"
#include "src/ops/lowering.h"
#include "src/ops/shape_rule.h"

namespace tboost::ops {

Result<std::vector<ValueType>> InferBinary(const OpRecord& op, std::span<const ValueType> inputs,
                                           std::span<const bool> present,
                                           const Attributes& attributes) {
  TBOOST_RETURN_IF_ERROR(ParseAttributes<NoAttributes>(attributes, op.name).status());
  ShapeRule rule(op, inputs, present);
  rule.Operand(0, "tk").RowOrMatrix(1, "tk");
  return rule.Outputs({"tk"});
}

KernelCall CallBinary(const LowerContext& context, bool multiply) {
  const TensorView &x = context.inputs[0], &y = context.inputs[1], &z = context.outputs[0];
  kernels::BinaryArgs args;
  args.m = x.rows();
  args.k = x.shape.back();
  args.x = Floats(x);
  args.ldx = x.stride();
  args.y = Floats(y);
  args.ldy = y.shape.rank() == 1 ? 0 : y.stride();
  args.multiply = multiply;
  args.out = MutableFloats(z);
  args.ldo = z.stride();
  return CallKernel("binary", context.kernels->binary, args);
}

std::vector<OpCase> BinaryCases() {
  std::vector<OpCase> cases;
  for (const auto& [t, k] : {std::pair{1, 1}, {5, 33}, {8, 64}}) {
    cases.push_back(
        MakeCase(fmt::format("[{}, {}]", t, k), {TensorType({t, k}), TensorType({t, k})}));
    cases.push_back(
        MakeCase(fmt::format("[{}, {}] and a row", t, k), {TensorType({t, k}), TensorType({k})}));
  }
  return cases;
}

Result<ValueId> SumToShapeOfY(const GradientContext& context, ValueId gradient) {
  if (context.graph->value(context.inputs[1]).type.shape.size() == 2) return gradient;
  return context.graph->Add(ReduceRows(), context.name + ".row", {gradient});
}

}  // namespace tboost::ops
