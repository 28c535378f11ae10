#include "src/ops/l2_normalize.h"

#include <algorithm>
#include <cmath>

#include "src/kernels/rows.h"
#include "src/ops/cases.h"
#include "src/ops/cost.h"
#include "src/ops/lowering.h"
#include "src/ops/shape_rule.h"

namespace tboost::ops {
namespace {

Result<std::vector<ValueType>> Infer(std::span<const ValueType> inputs,
                                     std::span<const bool> present, const Attributes& attributes) {
  TBOOST_ASSIGN_OR_RETURN(const auto a,
                          ParseAttributes<L2NormalizeAttributes>(attributes, "l2_normalize"));
  ShapeRule rule(L2Normalize(), inputs, present);
  rule.Epsilon(a.eps).Operand(0, "tk");
  return rule.Outputs({"tk"});
}

Status Reference(const RefCall& call) {
  const auto a = CheckedAttributes<L2NormalizeAttributes>(*call.attributes);
  const RefTensor& x = *call.inputs[0].tensor;
  for (int64_t t = 0; t < x.rows(); ++t) {
    double squares = 0;
    for (int64_t i = 0; i < x.columns(); ++i) squares += x.row(t)[i] * x.row(t)[i];
    const double length = std::max(std::sqrt(squares), a.eps);
    for (int64_t i = 0; i < x.columns(); ++i)
      call.outputs[0].row(t)[i] = length == 0 ? 0 : x.row(t)[i] / length;
  }
  return OkStatus();
}

struct L2NormalizeArgs {
  const float* x;
  int64_t ldx, rows, k;
  double eps;
  float* out;
  int64_t ldo;
};

int64_t NormalizeTasks(const L2NormalizeArgs& args) { return kernels::RowTasks(args.rows, args.k); }
// The sum of squares is a double: squares of large f32 would overflow.
void NormalizeRows(const L2NormalizeArgs& args, int64_t task, kernels::Scratch) {
  const kernels::RowRange rows = kernels::RowsOfTask(task, args.rows, args.k);
  for (int64_t t = rows.first; t < rows.end; ++t) {
    const float* x = args.x + t * args.ldx;
    float* out = args.out + t * args.ldo;
    double squares = 0;
    for (int64_t i = 0; i < args.k; ++i) squares += double{x[i]} * double{x[i]};
    const double length = std::max(std::sqrt(squares), args.eps);
    for (int64_t i = 0; i < args.k; ++i)
      out[i] = length == 0 ? 0.0f : static_cast<float>(x[i] / length);  // NaN stays NaN
  }
}

Result<KernelCall> Lower(const LowerContext& context) {
  const auto a = CheckedAttributes<L2NormalizeAttributes>(*context.attributes);
  const TensorView &x = context.inputs[0], &out = context.outputs[0];
  const L2NormalizeArgs args = {Floats(x), x.stride(),         x.rows(),    x.shape.back(),
                                a.eps,     MutableFloats(out), out.stride()};
  return MakeKernelCall("l2_normalize", NormalizeRows, args, NormalizeTasks,
                        NoScratch<L2NormalizeArgs>);
}

std::vector<OpCase> Cases() {
  std::vector<OpCase> cases;
  for (const auto& [t, k] : {std::pair{1, 1}, {70, 384}}) {
    cases.push_back(MakeCase(fmt::format("[{}, {}]", t, k), {TensorType({t, k})}));
    cases.back().outliers = k > 1;
  }
  return cases;
}

}  // namespace

const OpRecord& L2Normalize() {
  static const OpRecord record = {
      .name = "l2_normalize",
      .doc = "y = x / max(sqrt(sum(x^2)), eps) for each row.",
      .inputs = {{"x"}},
      .outputs = {"y"},
      .attributes = DescribeAttributes<L2NormalizeAttributes>(),
      .infer = Infer,
      .reference = Reference,
      .cost = ElementwiseCost<3>,
      .lower = Lower,
      .cases = Cases,
      .in_place_input = 0,
  };
  return record;
}

}  // namespace tboost::ops
