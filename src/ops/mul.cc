#include "src/ops/binary.h"
#include "src/ops/cost.h"

namespace tboost::ops {
namespace {

Result<std::vector<ValueType>> Infer(std::span<const ValueType> inputs,
                                     std::span<const bool> present, const Attributes& attributes) {
  return InferBinary(Mul(), inputs, present, attributes);
}

Result<std::vector<ValueId>> Gradient(const GradientContext& context) {
  const ValueId x = context.inputs[0], y = context.inputs[1], dz = context.output_gradients[0];
  TBOOST_ASSIGN_OR_RETURN(const ValueId dx,
                          context.graph->Add(Mul(), context.name + ".x", {dz, y}));
  TBOOST_ASSIGN_OR_RETURN(ValueId dy, context.graph->Add(Mul(), context.name + ".y", {dz, x}));
  TBOOST_ASSIGN_OR_RETURN(dy, SumToShapeOfY(context, dy));
  return std::vector<ValueId>{dx, dy};
}

Result<KernelCall> Lower(const LowerContext& context) { return CallBinary(context, true); }

}  // namespace

const OpRecord& Mul() {
  static const OpRecord record = {
      .name = "mul",
      .doc = "z = x * y elementwise; y has the shape of x or is one row for all.",
      .inputs = {{"x"}, {"y"}},
      .outputs = {"z"},
      .attributes = {},
      .infer = Infer,
      .reference = BinaryReference<std::multiplies<double>>,
      .cost = ElementwiseCost<1>,
      .lower = Lower,
      .gradient = Gradient,
      .cases = BinaryCases,
      .in_place_input = 0,
  };
  return record;
}

}  // namespace tboost::ops
