#include "src/ops/layer_norm.h"

#include "src/ops/cases.h"
#include "src/ops/cost.h"
#include "src/ops/lowering.h"
#include "src/ops/reference_math.h"
#include "src/ops/shape_rule.h"

namespace tboost::ops {
namespace {

Result<std::vector<ValueType>> Infer(std::span<const ValueType> inputs,
                                     std::span<const bool> present, const Attributes& attributes) {
  TBOOST_ASSIGN_OR_RETURN(const auto a,
                          ParseAttributes<LayerNormAttributes>(attributes, "layer_norm"));
  ShapeRule rule(LayerNorm(), inputs, present);
  rule.Epsilon(a.eps).Operand(0, "tk").Operand(1, "k").Operand(2, "k");
  return rule.Outputs({"tk"});
}

Status Reference(const RefCall& call) {
  const auto a = CheckedAttributes<LayerNormAttributes>(*call.attributes);
  const RefTensor& x = *call.inputs[0].tensor;
  const RefTensor* beta = call.inputs[2].tensor;
  for (int64_t t = 0; t < x.rows(); ++t)
    NormalizeRow(kernels::NormKind::kLayer, x.row(t), x.columns(), call.inputs[1].tensor->row(0),
                 beta ? beta->row(0) : nullptr, a.eps, call.outputs[0].row(t));
  return OkStatus();
}

Result<std::vector<ValueId>> Gradient(const GradientContext& context) {
  TBOOST_ASSIGN_OR_RETURN(
      const NodeId node,
      context.graph->AddNode(LayerNormGrad(), context.name,
                             {context.output_gradients[0], context.inputs[0], context.inputs[1]},
                             *context.attributes));
  std::vector<ValueId> gradients = context.graph->node(node).outputs;
  if (context.inputs[2] == kNone) gradients[2] = kNone;
  return gradients;
}

Result<KernelCall> Lower(const LowerContext& context) {
  const auto a = CheckedAttributes<LayerNormAttributes>(*context.attributes);
  const kernels::NormArgs args =
      MakeNormArgs(context, {kernels::NormKind::kLayer, Floats(context.inputs[1]),
                             Floats(context.inputs[2]), static_cast<float>(a.eps)});
  return CallKernel("norm", context.kernels->norm, args);
}

std::vector<OpCase> Cases() {
  std::vector<OpCase> cases;
  for (const auto& [t, k] : {std::pair{1, 1}, {3, 16}, {5, 33}, {4, 384}}) {
    cases.push_back(MakeCase(fmt::format("[{}, {}]", t, k),
                             {TensorType({t, k}), TensorType({k}), TensorType({k})},
                             MakeAttributes(LayerNormAttributes{1e-12})));
    cases.back().outliers = k > 16;
  }
  cases.push_back(MakeCase("without beta", {TensorType({2, 40}), TensorType({40}), {}}));
  cases.back().present[2] = false;
  return cases;
}

}  // namespace

const OpRecord& LayerNorm() {
  static const OpRecord record = {
      .name = "layer_norm",
      .doc = "y = (x - mean) / sqrt(variance + eps) * gamma + beta for each row.",
      .inputs = {{"x"}, {"gamma"}, {.name = "beta", .optional = true}},
      .outputs = {"y"},
      .attributes = DescribeAttributes<LayerNormAttributes>(),
      .infer = Infer,
      .reference = Reference,
      .cost = ElementwiseCost<8>,
      .lower = Lower,
      .gradient = Gradient,
      .cases = Cases,
      .light = true,
      .in_place_input = 0,
  };
  return record;
}

}  // namespace tboost::ops
