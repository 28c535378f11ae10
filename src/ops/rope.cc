#include "src/ops/rope.h"

#include "src/ops/cases.h"
#include "src/ops/cost.h"
#include "src/ops/lowering.h"
#include "src/ops/reference_math.h"
#include "src/ops/shape_rule.h"

namespace tboost::ops {
namespace {

Result<std::vector<ValueType>> Infer(std::span<const ValueType> inputs,
                                     std::span<const bool> present, const Attributes& attributes) {
  TBOOST_ASSIGN_OR_RETURN(const auto a, ParseAttributes<RopeAttributes>(attributes, "rope"));
  ShapeRule rule(Rope(), inputs, present);
  CheckRope(a, rule);
  rule.Operand(0, "th").Operand(1, "tr");
  CheckRotaryDim(a.head_dim, rule);
  return rule.Outputs({"th"});
}

Status Reference(const RefCall& call) {
  call.outputs[0].data = call.inputs[0].tensor->data;
  RotateRows(*call.inputs[1].tensor, CheckedAttributes<RopeAttributes>(*call.attributes), false,
             call.outputs[0]);
  return OkStatus();
}

Result<std::vector<ValueId>> Gradient(const GradientContext& context) {
  TBOOST_ASSIGN_OR_RETURN(
      const ValueId dx,
      context.graph->Add(RopeGrad(), context.name, {context.output_gradients[0], context.inputs[1]},
                         *context.attributes));
  return std::vector<ValueId>{dx, kNone};
}

Result<KernelCall> Lower(const LowerContext& context) {
  const auto a = CheckedAttributes<RopeAttributes>(*context.attributes);
  kernels::RopeKvArgs args = MakeHeadsArgs(context, a.heads, a.head_dim);
  SetAngles(context.inputs[1], args);
  return CallKernel("rope_kv", context.kernels->rope_kv, args);
}

std::vector<OpCase> Cases() {
  std::vector<OpCase> cases;
  for (const auto& [t, heads, d, r] :
       {std::array{1, 1, 2, 2}, {5, 3, 64, 64}, {4, 2, 24, 8}, {3, 2, 80, 30}})
    cases.push_back(MakeCase(fmt::format("t{} {} heads of {}, {} rotated", t, heads, d, r),
                             {TensorType({t, heads * d}), TensorType({t, r})},
                             MakeAttributes(RopeAttributes{heads, d})));
  return cases;
}

}  // namespace

void CheckRope(const RopeAttributes& a, ShapeRule& rule) {
  rule.Count("heads", a.heads).Count("head_dim", a.head_dim);
  if (rule.ok()) rule.Set('h', a.heads * a.head_dim);
}

void CheckRotaryDim(int64_t head_dim, ShapeRule& rule) {
  if (!rule.ok()) return;
  const int64_t rotary_dim = rule.dim('r').constant().value_or(0);
  rule.Require(rotary_dim > 0 && rotary_dim % 2 == 0 && rotary_dim <= head_dim,
               "angles has {} columns for heads of {}", rule.dim('r').ToString(), head_dim);
}

void RotateRows(const RefTensor& angles, const RopeAttributes& a, bool back, RefTensor& x) {
  for (int64_t t = 0; t < x.rows(); ++t)
    for (int64_t h = 0; h < a.heads; ++h)
      RotateHead(angles.row(t), angles.columns(), back, x.row(t) + h * a.head_dim);
}

const OpRecord& Rope() {
  static const OpRecord record = {
      .name = "rope",
      .doc =
          "Rotates the pairs (i, i + n / 2) of the first n elements of each head by the n / 2 "
          "angles of the token.",
      .inputs = {{"x"}, {"angles"}},
      .outputs = {"y"},
      .attributes = DescribeAttributes<RopeAttributes>(),
      .infer = Infer,
      .reference = Reference,
      .cost = ElementwiseCost<3>,
      .lower = Lower,
      .gradient = Gradient,
      .cases = Cases,
      .in_place_input = 0,
  };
  return record;
}

}  // namespace tboost::ops
