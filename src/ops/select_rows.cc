#include <algorithm>

#include "src/kernels/rows.h"
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
  TBOOST_RETURN_IF_ERROR(ParseAttributes<NoAttributes>(attributes, "select_rows").status());
  ShapeRule rule(SelectRows(), inputs, present);
  rule.Operand(0, "tk").Operand(1, "o", DType::kI32);
  return rule.Outputs({"ok"});
}

Status Reference(const RefCall& call) {
  const RefTensor &x = *call.inputs[0].tensor, &rows = *call.inputs[1].tensor;
  for (int64_t o = 0; o < call.outputs[0].rows(); ++o) {
    TBOOST_ASSIGN_OR_RETURN(const int64_t t, RowIndex("select_rows", rows.data[o], x.rows()));
    std::copy_n(x.row(t), x.columns(), call.outputs[0].row(o));
  }
  return OkStatus();
}

// Only the rows selected are read.
Cost SelectCost(std::span<const TensorView> inputs, std::span<const TensorView> outputs,
                const Attributes&) {
  const TensorView moved[] = {outputs[0], inputs[1]};
  return StreamCost(moved, outputs, 0);
}

struct SelectArgs {
  const float* x;
  int64_t ldx;
  const int32_t* rows;
  int64_t count, k;
  float* out;
  int64_t ldo;
};

int64_t SelectTasks(const SelectArgs& args) { return kernels::RowTasks(args.count, args.k); }
void CopyRows(const SelectArgs& args, int64_t task, kernels::Scratch) {
  const kernels::RowRange range = kernels::RowsOfTask(task, args.count, args.k);
  for (int64_t o = range.first; o < range.end; ++o)
    std::copy_n(args.x + args.rows[o] * args.ldx, args.k, args.out + o * args.ldo);
}

Result<KernelCall> Lower(const LowerContext& context) {
  const TensorView &x = context.inputs[0], &rows = context.inputs[1], &out = context.outputs[0];
  const SelectArgs args = {Floats(x),     x.stride(),     rows.as<const int32_t>(),
                           rows.shape[0], x.shape.back(), MutableFloats(out),
                           out.stride()};
  return MakeKernelCall("select_rows", CopyRows, args, SelectTasks, NoScratch<SelectArgs>);
}

std::vector<OpCase> Cases() {
  OpCase some = MakeCase("4 of 9", {TensorType({9, 21}), TensorType({4}, DType::kI32)});
  some.index_limit = 9;
  OpCase wide = MakeCase("40 of 3", {TensorType({3, 2000}), TensorType({40}, DType::kI32)});
  wide.index_limit = 3;
  return {some, wide};
}

}  // namespace

const OpRecord& SelectRows() {
  static const OpRecord record = {
      .name = "select_rows",
      .doc = "y[o] = x[rows[o]].",
      .inputs = {{"x"}, {"rows"}},
      .outputs = {"y"},
      .attributes = {},
      .infer = Infer,
      .reference = Reference,
      .cost = SelectCost,
      .lower = Lower,
      .cases = Cases,
      .tolerance = 0,
      .light = true,
  };
  return record;
}

}  // namespace tboost::ops
