#include "src/ops/activation.h"

#include "src/ops/cases.h"
#include "src/ops/cost.h"
#include "src/ops/lowering.h"
#include "src/ops/reference_math.h"
#include "src/ops/shape_rule.h"

namespace tboost::ops {
namespace {

Result<std::vector<ValueType>> Infer(std::span<const ValueType> inputs,
                                     std::span<const bool> present, const Attributes& attributes) {
  TBOOST_RETURN_IF_ERROR(ParseAttributes<ActivationAttributes>(attributes, "activation").status());
  ShapeRule rule(Activation(), inputs, present);
  rule.Operand(0, "tk");
  return rule.Outputs({"tk"});
}

Status Reference(const RefCall& call) {
  const auto a = CheckedAttributes<ActivationAttributes>(*call.attributes);
  const RefTensor& x = *call.inputs[0].tensor;
  for (size_t i = 0; i < x.data.size(); ++i) call.outputs[0].data[i] = Activate(a.kind, x.data[i]);
  return OkStatus();
}

Result<std::vector<ValueId>> Gradient(const GradientContext& context) {
  TBOOST_ASSIGN_OR_RETURN(
      const ValueId dx,
      context.graph->Add(ActivationGrad(), context.name,
                         {context.output_gradients[0], context.inputs[0]}, *context.attributes));
  return std::vector<ValueId>{dx};
}

Result<KernelCall> Lower(const LowerContext& context) {
  const TensorView &x = context.inputs[0], &y = context.outputs[0];
  kernels::ActivationArgs args;
  args.m = x.rows();
  args.k = x.shape.back();
  args.x = Floats(x);
  args.ldx = x.stride();
  args.activation = CheckedAttributes<ActivationAttributes>(*context.attributes).kind;
  args.out = MutableFloats(y);
  args.ldo = y.stride();
  return CallKernel("activation", context.kernels->activation, args);
}

std::vector<OpCase> Cases() {
  std::vector<OpCase> cases;
  for (const auto& [kind, name] : EnumNames<kernels::Activation>::kNames)
    for (int k : {1, 37}) {
      cases.push_back(MakeCase(fmt::format("{} [3, {}]", name, k), {TensorType({3, k})},
                               MakeAttributes(ActivationAttributes{kind})));
    }
  return cases;
}

}  // namespace

const OpRecord& Activation() {
  static const OpRecord record = {
      .name = "activation",
      .doc = "y = kind(x) elementwise.",
      .inputs = {{"x"}},
      .outputs = {"y"},
      .attributes = DescribeAttributes<ActivationAttributes>(),
      .infer = Infer,
      .reference = Reference,
      .cost = ElementwiseCost<10>,
      .lower = Lower,
      .gradient = Gradient,
      .cases = Cases,
      .in_place_input = 0,
  };
  return record;
}

}  // namespace tboost::ops
