#include "src/ops/add_norm.h"

#include "src/ops/cases.h"
#include "src/ops/cost.h"
#include "src/ops/lowering.h"
#include "src/ops/reference_math.h"
#include "src/ops/shape_rule.h"

namespace tboost::ops {
namespace {

using kernels::NormKind;

Result<std::vector<ValueType>> Infer(std::span<const ValueType> inputs,
                                     std::span<const bool> present, const Attributes& attributes) {
  TBOOST_ASSIGN_OR_RETURN(const auto a, ParseAttributes<AddNormAttributes>(attributes, "add_norm"));
  ShapeRule rule(AddNorm(), inputs, present);
  rule.Epsilon(a.eps).Operand(0, "tk").Operand(1, "tk").Operand(2, "k").Operand(3, "k");
  rule.Require(a.norm != NormKind::kNone, "norm is none");
  rule.Require(!rule.present(3) || a.norm == NormKind::kLayer, "beta needs a layer norm");
  return rule.Outputs({"tk", "tk"});
}

Status Reference(const RefCall& call) {
  const auto a = CheckedAttributes<AddNormAttributes>(*call.attributes);
  const RefTensor &x = *call.inputs[0].tensor, &residual = *call.inputs[1].tensor;
  const RefTensor* beta = call.inputs[3].tensor;
  RefTensor &y = call.outputs[0], &sum = call.outputs[1];
  for (size_t i = 0; i < x.data.size(); ++i) sum.data[i] = x.data[i] + residual.data[i];
  for (int64_t t = 0; t < x.rows(); ++t)
    NormalizeRow(a.norm, sum.row(t), x.columns(), call.inputs[2].tensor->row(0),
                 beta ? beta->row(0) : nullptr, a.eps, y.row(t));
  return OkStatus();
}

// The sum is stored only where output 1 has memory.
Result<KernelCall> Lower(const LowerContext& context) {
  const auto a = CheckedAttributes<AddNormAttributes>(*context.attributes);
  const TensorView &residual = context.inputs[1], &sum = context.outputs[1];
  kernels::NormArgs args = MakeNormArgs(
      context,
      {a.norm, Floats(context.inputs[2]), Floats(context.inputs[3]), static_cast<float>(a.eps)});
  args.residual = Floats(residual);
  args.ldr = residual.stride();
  args.sum = MutableFloats(sum);
  args.lds = sum.stride();
  return CallKernel("norm", context.kernels->norm, args);
}

std::vector<OpCase> Cases() {
  std::vector<OpCase> cases;
  for (NormKind norm : {NormKind::kLayer, NormKind::kRms})
    for (const auto& [t, k] : {std::pair{1, 1}, {5, 33}, {3, 384}}) {
      const ValueType rows = TensorType({t, k}), row = TensorType({k});
      cases.push_back(MakeCase(fmt::format("[{}, {}]", t, k), {rows, rows, row, row},
                               MakeAttributes(AddNormAttributes{norm, 1e-6})));
      cases.back().present[3] = norm == NormKind::kLayer;
      cases.back().outliers = k > 33;
    }
  return cases;
}

}  // namespace

const OpRecord& AddNorm() {
  static const OpRecord record = {
      .name = "add_norm",
      .doc = "sum = x + residual; y = norm(sum), with gamma and beta.",
      .inputs = {{"x"}, {"residual"}, {"gamma"}, {.name = "beta", .optional = true}},
      .outputs = {"y", "sum"},
      .attributes = DescribeAttributes<AddNormAttributes>(),
      .infer = Infer,
      .reference = Reference,
      .cost = ElementwiseCost<9>,
      .lower = Lower,
      .cases = Cases,
      .light = true,
      .in_place_input = 0,
  };
  return record;
}

}  // namespace tboost::ops
