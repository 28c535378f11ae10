#include "src/kernels/kernels.h"
#include "src/ops/best_rows.h"
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
  TBOOST_RETURN_IF_ERROR(ParseAttributes<NoAttributes>(attributes, "linear").status());
  ShapeRule rule(Linear(), inputs, present);
  rule.Operand(0, "tk").Weight(1, "nk").Operand(2, "n");
  return rule.Outputs({"tn"});
}

Status Reference(const RefCall& call) {
  const RefTensor &x = *call.inputs[0].tensor, &w = *call.inputs[1].tensor;
  const RefTensor* bias = call.inputs[2].tensor;
  RefTensor& y = call.outputs[0];
  for (int64_t t = 0; t < y.rows(); ++t) {
    std::vector<double> row(x.row(t), x.row(t) + x.columns());
    RoundForProduct(call.inputs[1].dtype, x.columns(), row.data());
    for (int64_t n = 0; n < y.columns(); ++n) {
      double sum = bias ? bias->data[n] : 0;
      for (int64_t k = 0; k < x.columns(); ++k) sum += row[k] * w.row(n)[k];
      y.row(t)[n] = sum;
    }
  }
  return OkStatus();
}

Cost LinearCost(std::span<const TensorView> inputs, std::span<const TensorView> outputs,
                const Attributes&) {
  const double k = static_cast<double>(inputs[0].shape.back());
  return StreamCost(inputs, outputs, 2 * k * static_cast<double>(outputs[0].shape.elements()));
}

Result<std::vector<ValueId>> Gradient(const GradientContext& context) {
  const ValueId x = context.inputs[0], w = context.inputs[1], dy = context.output_gradients[0];
  Graph& graph = *context.graph;
  std::vector<ValueId> gradients(3, kNone);
  TBOOST_ASSIGN_OR_RETURN(gradients[0], graph.Add(LinearGradInput(), context.name + ".x", {dy, w}));
  TBOOST_ASSIGN_OR_RETURN(gradients[1],
                          graph.Add(LinearGradWeight(), context.name + ".w", {dy, x}));
  if (context.inputs[2] != kNone) {
    TBOOST_ASSIGN_OR_RETURN(gradients[2], graph.Add(ReduceRows(), context.name + ".bias", {dy}));
  }
  return gradients;
}

Result<KernelCall> Lower(const LowerContext& context) {
  const kernels::GemmArgs args = MakeGemmArgs(context);
  if (context.best) return CallBestRows(context, args);
  return CallGemm(context, args);
}

std::vector<OpCase> Cases() {
  std::vector<OpCase> cases;
  for (const auto& [t, n, k] : {std::array{1, 1, 1}, {3, 17, 5}, {7, 32, 64}, {19, 40, 33}}) {
    cases.push_back(MakeCase(fmt::format("t{} n{} k{}", t, n, k),
                             {TensorType({t, k}), TensorType({n, k}), TensorType({n})}));
    cases.back().outliers = t == 7;
  }
  for (const DTypeInfo& info : AllDTypes()) {
    if (!info.quantised() && info.dtype != DType::kF16 && info.dtype != DType::kBF16) continue;
    cases.push_back(MakeCase(fmt::format("{} without bias", info.name),
                             {TensorType({5, 256}), TensorType({35, 256}, info.dtype), {}}));
    cases.back().present[2] = false;
  }
  return cases;
}

}  // namespace

const OpRecord& Linear() {
  static const OpRecord record = {
      .name = "linear",
      .doc = "y = x W^T + bias, row by row.",
      .inputs = {{"x"},
                 {.name = "w", .form = ConstantForm::kPanels},
                 {.name = "bias", .optional = true}},
      .outputs = {"y"},
      .attributes = {},
      .infer = Infer,
      .reference = Reference,
      .cost = LinearCost,
      .lower = Lower,
      .gradient = Gradient,
      .cases = Cases,
      .ranks = true,
  };
  return record;
}

}  // namespace tboost::ops
