#include "src/ops/columns.h"

#include <algorithm>

#include "src/ops/cases.h"
#include "src/ops/cost.h"
#include "src/ops/shape_rule.h"

namespace tboost::ops {
namespace {

Result<std::vector<ValueType>> Infer(std::span<const ValueType> inputs,
                                     std::span<const bool> present, const Attributes& attributes) {
  TBOOST_ASSIGN_OR_RETURN(const auto a, ParseAttributes<ColumnsAttributes>(attributes, "columns"));
  ShapeRule rule(Columns(), inputs, present);
  rule.Operand(0, "tk");
  if (!rule.ok()) return rule.Outputs({});
  const int64_t width = rule.dim('k').constant().value_or(0);
  rule.Require(a.begin >= 0 && a.count >= 1 && a.count <= width && a.begin <= width - a.count,
               "{} columns from {} are not inside of x, which has {}", a.count, a.begin,
               rule.dim('k').ToString());
  rule.Set('c', a.count);
  return rule.Outputs({"tc"});
}

Status Reference(const RefCall& call) {
  const auto a = CheckedAttributes<ColumnsAttributes>(*call.attributes);
  const RefTensor& x = *call.inputs[0].tensor;
  for (int64_t t = 0; t < x.rows(); ++t)
    std::copy_n(x.row(t) + a.begin, a.count, call.outputs[0].row(t));
  return OkStatus();
}

Cost NoCost(std::span<const TensorView>, std::span<const TensorView>, const Attributes&) {
  return {};
}

int64_t FirstColumn(const Attributes& attributes) {
  return CheckedAttributes<ColumnsAttributes>(attributes).begin;
}

std::vector<OpCase> Cases() {
  return {MakeCase("4 to 9 of 12", {TensorType({3, 12})}, MakeAttributes(ColumnsAttributes{4, 6})),
          MakeCase("all", {TensorType({2, 5})}, MakeAttributes(ColumnsAttributes{0, 5}))};
}

}  // namespace

const OpRecord& Columns() {
  static const OpRecord record = {
      .name = "columns",
      .doc = "The columns [begin, begin + count) of x, as a view.",
      .inputs = {{"x"}},
      .outputs = {"y"},
      .attributes = DescribeAttributes<ColumnsAttributes>(),
      .infer = Infer,
      .reference = Reference,
      .cost = NoCost,
      .cases = Cases,
      .alias_columns = FirstColumn,
  };
  return record;
}

}  // namespace tboost::ops
