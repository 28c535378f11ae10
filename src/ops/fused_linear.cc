#include "src/ops/fused_linear.h"

#include "src/ops/best_rows.h"
#include "src/ops/cases.h"
#include "src/ops/cost.h"
#include "src/ops/lowering.h"
#include "src/ops/reference_math.h"
#include "src/ops/shape_rule.h"
#include "src/tensor/float16.h"

namespace tboost::ops {
namespace {

using kernels::Activation;
using kernels::NormKind;

enum Operand { kX, kW, kBias, kGamma, kBeta, kResidual };

Result<std::vector<ValueType>> Infer(std::span<const ValueType> inputs,
                                     std::span<const bool> present, const Attributes& attributes) {
  TBOOST_ASSIGN_OR_RETURN(const auto a,
                          ParseAttributes<FusedLinearAttributes>(attributes, "fused_linear"));
  ShapeRule rule(FusedLinear(), inputs, present);
  rule.Epsilon(a.eps).Operand(kX, "tk").Weight(kW, "nk").Operand(kBias, "n");
  rule.Operand(kGamma, "k").Operand(kBeta, "k");
  if (!rule.ok()) return rule.Outputs({});
  rule.Require(rule.present(kGamma) == (a.norm != NormKind::kNone),
               "gamma is needed with a norm and only then");
  rule.Require(!rule.present(kBeta) || a.norm == NormKind::kLayer, "beta needs a layer norm");
  rule.Require(!a.round_rows || inputs[kW].dtype == DType::kBF16,
               "rows are rounded to bf16, w is {}", DTypeName(inputs[kW].dtype));
  const int64_t n = rule.dim('n').constant().value_or(0);
  rule.Require(!a.gated || n % (2 * kPanelColumns) == 0,
               "w has {} rows, expected a multiple of {} when gated", n, 2 * kPanelColumns);
  rule.Set('y', a.gated ? n / 2 : n).Operand(kResidual, "ty");
  return rule.Outputs({"ty"});
}

const double* Row(const RefOperand& operand) {
  return operand.tensor ? operand.tensor->row(0) : nullptr;
}

Status Reference(const RefCall& call) {
  const auto a = CheckedAttributes<FusedLinearAttributes>(*call.attributes);
  const RefTensor &x = *call.inputs[kX].tensor, &w = *call.inputs[kW].tensor;
  const RefTensor* residual = call.inputs[kResidual].tensor;
  const double* bias = Row(call.inputs[kBias]);
  RefTensor& y = call.outputs[0];
  std::vector<double> row(x.columns()), product(w.rows());
  for (int64_t t = 0; t < x.rows(); ++t) {
    NormalizeRow(a.norm, x.row(t), x.columns(), Row(call.inputs[kGamma]), Row(call.inputs[kBeta]),
                 a.eps, row.data());
    if (a.round_rows)
      for (double& value : row) value = double{BF16ToFloat(FloatToBF16(static_cast<float>(value)))};
    RoundForProduct(call.inputs[kW].dtype, x.columns(), row.data());
    for (int64_t n = 0; n < w.rows(); ++n) {
      product[n] = bias ? bias[n] : 0;
      for (int64_t k = 0; k < x.columns(); ++k) product[n] += row[k] * w.row(n)[k];
    }
    for (int64_t j = 0; j < y.columns(); ++j) {
      const int64_t gate = a.gated ? j / kPanelColumns * 2 * kPanelColumns + j % kPanelColumns : j;
      const double up = a.gated ? product[gate + kPanelColumns] : 1;
      y.row(t)[j] =
          Activate(a.activation, product[gate]) * up + (residual ? residual->row(t)[j] : 0);
    }
  }
  return OkStatus();
}

Cost CostOfProduct(std::span<const TensorView> inputs, std::span<const TensorView> outputs,
                   const Attributes&) {
  const double rows = static_cast<double>(inputs[kX].shape[0]);
  return StreamCost(inputs, outputs, 2 * rows * static_cast<double>(inputs[kW].shape.elements()));
}

Result<KernelCall> Lower(const LowerContext& context) {
  const auto a = CheckedAttributes<FusedLinearAttributes>(*context.attributes);
  const TensorView& residual = context.inputs[kResidual];
  kernels::GemmArgs args = MakeGemmArgs(context);
  args.norm = {a.norm, Floats(context.inputs[kGamma]), Floats(context.inputs[kBeta]),
               static_cast<float>(a.eps)};
  args.activation = a.activation;
  args.gated = a.gated;
  args.round_rows = a.round_rows;
  args.residual = Floats(residual);
  args.ldr = residual.stride();
  if (!context.best) return CallGemm(context, args);
  return CallBestRows(context, args);
}

// `operands` names those present beyond x and w, by their first letters: b(ias), n(orm's gamma and,
// if layer, beta), r(esidual).
OpCase Case(int64_t t, int64_t n, int64_t k, FusedLinearAttributes a, std::string_view operands,
            DType dtype = DType::kF32) {
  const int64_t columns = a.gated ? n / 2 : n;
  const auto has = [&](char letter) { return operands.find(letter) != operands.npos; };
  OpCase out =
      MakeCase(fmt::format("t{} n{} k{} {} operands {}", t, n, k, DTypeName(dtype), operands),
               {TensorType({t, k}), TensorType({n, k}, dtype), TensorType({n}), TensorType({k}),
                TensorType({k}), TensorType({t, columns})},
               MakeAttributes(a));
  out.present = {true, true, has('b'), has('n'), has('n') && a.norm == NormKind::kLayer, has('r')};
  return out;
}

std::vector<OpCase> Cases() {
  std::vector<OpCase> cases;
  for (const auto& [activation, name] : EnumNames<Activation>::kNames)
    cases.push_back(Case(3, 20, 9, {activation}, "b"));
  cases.push_back(Case(5, 33, 40, {Activation::kGeluErf, false, NormKind::kLayer, 1e-5}, "bnr"));
  cases.back().outliers = true;
  cases.push_back(Case(1, 48, 64, {Activation::kNone, false, NormKind::kRms, 1e-6}, "nr"));
  cases.push_back(Case(9, 64, 32, {Activation::kSilu, true}, ""));
  cases.push_back(
      Case(17, 96, 256, {Activation::kSilu, true, NormKind::kRms, 1e-6}, "bnr", DType::kQ4_1));
  cases.push_back(Case(2, 64, 256, {Activation::kGeluTanh, true}, "r", DType::kQ6_K));
  for (const int64_t t : {2, 19})
    cases.push_back(Case(t, 48, 75, {.activation = Activation::kGeluErf, .round_rows = true}, "br",
                         DType::kBF16));
  for (const DType dtype : {DType::kInt8, DType::kInt7}) {
    cases.push_back(Case(17, 96, 40, {Activation::kSilu, true}, "br", dtype));
    cases.push_back(
        Case(5, 33, 40, {Activation::kGeluErf, false, NormKind::kLayer, 1e-5}, "bnr", dtype));
    cases.push_back(Case(1, 48, 64, {Activation::kNone, false, NormKind::kRms, 1e-6}, "n", dtype));
  }
  return cases;
}

}  // namespace

const OpRecord& FusedLinear() {
  static const OpRecord record = {
      .name = "fused_linear",
      .doc =
          "y = activation(norm(x) W^T + bias) + residual, or with gated "
          "activation(gate) * up + residual of that product.",
      .inputs = {{"x"},
                 {.name = "w", .form = ConstantForm::kPanels},
                 {.name = "bias", .optional = true},
                 {.name = "gamma", .optional = true},
                 {.name = "beta", .optional = true},
                 {.name = "residual", .optional = true}},
      .outputs = {"y"},
      .attributes = DescribeAttributes<FusedLinearAttributes>(),
      .infer = Infer,
      .reference = Reference,
      .cost = CostOfProduct,
      .lower = Lower,
      .cases = Cases,
      .ranks = true,
      .in_place_input = kResidual,
  };
  return record;
}

}  // namespace tboost::ops
