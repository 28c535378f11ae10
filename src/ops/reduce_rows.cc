#include "src/ops/cases.h"
#include "src/ops/cost.h"
#include "src/ops/ops.h"
#include "src/ops/shape_rule.h"

namespace tboost::ops {
namespace {

Result<std::vector<ValueType>> Infer(std::span<const ValueType> inputs,
                                     std::span<const bool> present, const Attributes& attributes) {
  TBOOST_RETURN_IF_ERROR(ParseAttributes<NoAttributes>(attributes, "reduce_rows").status());
  ShapeRule rule(ReduceRows(), inputs, present);
  rule.Operand(0, "tk");
  return rule.Outputs({"k"});
}

Status Reference(const RefCall& call) {
  const RefTensor& x = *call.inputs[0].tensor;
  for (int64_t t = 0; t < x.rows(); ++t)
    for (int64_t k = 0; k < x.columns(); ++k) call.outputs[0].data[k] += x.row(t)[k];
  return OkStatus();
}

Cost RowsCost(std::span<const TensorView> inputs, std::span<const TensorView> outputs,
              const Attributes&) {
  return StreamCost(inputs, outputs, static_cast<double>(inputs[0].shape.elements()));
}

std::vector<OpCase> Cases() { return {MakeCase("[4, 9]", {TensorType({4, 9})})}; }

}  // namespace

const OpRecord& ReduceRows() {
  static const OpRecord record = {
      .name = "reduce_rows",
      .doc = "y = the sum of the rows of x: the gradient of an operand that is one row for all.",
      .inputs = {{"x"}},
      .outputs = {"y"},
      .attributes = {},
      .infer = Infer,
      .reference = Reference,
      .cost = RowsCost,
      .cases = Cases,
  };
  return record;
}

}  // namespace tboost::ops
