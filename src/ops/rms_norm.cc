#include "src/ops/rms_norm.h"

#include "src/ops/cases.h"
#include "src/ops/cost.h"
#include "src/ops/lowering.h"
#include "src/ops/reference_math.h"
#include "src/ops/shape_rule.h"

namespace tboost::ops {
namespace {

Result<std::vector<ValueType>> Infer(std::span<const ValueType> inputs,
                                     std::span<const bool> present, const Attributes& attributes) {
  TBOOST_ASSIGN_OR_RETURN(const auto a, ParseAttributes<RmsNormAttributes>(attributes, "rms_norm"));
  ShapeRule rule(RmsNorm(), inputs, present);
  rule.Epsilon(a.eps).Count("groups", a.groups).Operand(1, "d");
  if (rule.ok()) rule.Set('k', rule.dim('d') * Dim(a.groups));
  rule.Operand(0, "tk");
  return rule.Outputs({"tk"});
}

Status Reference(const RefCall& call) {
  const auto a = CheckedAttributes<RmsNormAttributes>(*call.attributes);
  const RefTensor &x = *call.inputs[0].tensor, &gamma = *call.inputs[1].tensor;
  const int64_t width = gamma.columns();
  for (int64_t part = 0; part < x.rows() * a.groups; ++part)
    NormalizeRow(kernels::NormKind::kRms, x.data.data() + part * width, width, gamma.row(0),
                 nullptr, a.eps, call.outputs[0].data.data() + part * width);
  return OkStatus();
}

Result<std::vector<ValueId>> Gradient(const GradientContext& context) {
  TBOOST_ASSIGN_OR_RETURN(
      const NodeId node,
      context.graph->AddNode(RmsNormGrad(), context.name,
                             {context.output_gradients[0], context.inputs[0], context.inputs[1]},
                             *context.attributes));
  return context.graph->node(node).outputs;
}

// Several groups are what the rope kernel does to heads, without a rotation.
Result<KernelCall> Lower(const LowerContext& context) {
  const auto a = CheckedAttributes<RmsNormAttributes>(*context.attributes);
  const TensorView& gamma = context.inputs[1];
  if (a.groups == 1) {
    const kernels::NormArgs args = MakeNormArgs(
        context, {kernels::NormKind::kRms, Floats(gamma), nullptr, static_cast<float>(a.eps)});
    return CallKernel("norm", context.kernels->norm, args);
  }
  kernels::RopeKvArgs args = MakeHeadsArgs(context, a.groups, gamma.shape[0]);
  args.q_gamma = Floats(gamma);
  args.eps = static_cast<float>(a.eps);
  return CallKernel("rope_kv", context.kernels->rope_kv, args);
}

std::vector<OpCase> Cases() {
  std::vector<OpCase> cases;
  for (const auto& [t, d, groups] :
       {std::array{1, 1, 1}, {3, 33, 1}, {4, 576, 1}, {3, 64, 3}, {2, 24, 5}}) {
    cases.push_back(MakeCase(fmt::format("[{}, {} x {}]", t, groups, d),
                             {TensorType({t, groups * d}), TensorType({d})},
                             MakeAttributes(RmsNormAttributes{1e-6, groups})));
    cases.back().outliers = d > 32;
  }
  return cases;
}

}  // namespace

const OpRecord& RmsNorm() {
  static const OpRecord record = {
      .name = "rms_norm",
      .doc = "y = x / sqrt(mean(x^2) + eps) * gamma for each group of each row.",
      .inputs = {{"x"}, {"gamma"}},
      .outputs = {"y"},
      .attributes = DescribeAttributes<RmsNormAttributes>(),
      .infer = Infer,
      .reference = Reference,
      .cost = ElementwiseCost<4>,
      .lower = Lower,
      .gradient = Gradient,
      .cases = Cases,
      .light = true,
      .in_place_input = 0,
  };
  return record;
}

}  // namespace tboost::ops
