#include "src/ops/binary.h"
#include "src/ops/cost.h"

namespace tboost::ops {
namespace {

Result<std::vector<ValueType>> Infer(std::span<const ValueType> inputs,
                                     std::span<const bool> present, const Attributes& attributes) {
  return InferBinary(Add(), inputs, present, attributes);
}

Result<std::vector<ValueId>> Gradient(const GradientContext& context) {
  const ValueId dz = context.output_gradients[0];
  TBOOST_ASSIGN_OR_RETURN(const ValueId dy, SumToShapeOfY(context, dz));
  return std::vector<ValueId>{dz, dy};
}

Result<KernelCall> Lower(const LowerContext& context) { return CallBinary(context, false); }

}  // namespace

const OpRecord& Add() {
  static const OpRecord record = {
      .name = "add",
      .doc = "z = x + y; y has the shape of x or is one row for all.",
      .inputs = {{"x"}, {"y"}},
      .outputs = {"z"},
      .attributes = {},
      .infer = Infer,
      .reference = BinaryReference<std::plus<double>>,
      .cost = ElementwiseCost<1>,
      .lower = Lower,
      .gradient = Gradient,
      .cases = BinaryCases,
      .light = true,
      .in_place_input = 0,
  };
  return record;
}

}  // namespace tboost::ops
