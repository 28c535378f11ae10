#include "src/ops/positions.h"

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
                          ParseAttributes<PositionsAttributes>(attributes, "positions"));
  ShapeRule rule(Positions(), inputs, present);
  rule.Require(a.offset >= 0 && a.offset <= 1 << 20, "offset is {}", a.offset).Operand(0, "ts");
  return rule.Output("t", DType::kI32);
}

Status Reference(const RefCall& call) {
  const auto a = CheckedAttributes<PositionsAttributes>(*call.attributes);
  const SequenceLayout& layout = *call.inputs[0].layout;
  for (int64_t t = 0; t < layout.tokens; ++t)
    call.outputs[0].data[t] = static_cast<double>(layout.Position(t) + a.offset);
  return OkStatus();
}

struct PositionsArgs {
  const SequenceLayout* layout;
  int32_t offset;
  int32_t* out;
};

int64_t PositionTasks(const PositionsArgs& args) {
  return kernels::RowTasks(args.layout->tokens, 1);
}
void FillPositions(const PositionsArgs& args, int64_t task, kernels::Scratch) {
  const kernels::RowRange rows = kernels::RowsOfTask(task, args.layout->tokens, 1);
  for (int64_t t = rows.first; t < rows.end; ++t)
    args.out[t] = args.layout->Position(t) + args.offset;
}

Result<KernelCall> Lower(const LowerContext& context) {
  const auto a = CheckedAttributes<PositionsAttributes>(*context.attributes);
  const PositionsArgs args = {context.layout, static_cast<int32_t>(a.offset),
                              context.outputs[0].as<int32_t>()};
  return MakeKernelCall("positions", FillPositions, args, PositionTasks, NoScratch<PositionsArgs>);
}

std::vector<OpCase> Cases() {
  OpCase out = MakeCase("offset 2", {LayoutType(9, 3)}, MakeAttributes(PositionsAttributes{2}));
  out.lengths = {4, 0, 5};
  out.past = {0, 3, 70};
  return {out};
}

}  // namespace

const OpRecord& Positions() {
  static const OpRecord record = {
      .name = "positions",
      .doc = "ids[t] = the position of token t in its sequence + offset.",
      .inputs = {{"layout", ValueType::Kind::kLayout}},
      .outputs = {"ids"},
      .attributes = DescribeAttributes<PositionsAttributes>(),
      .infer = Infer,
      .reference = Reference,
      .cost = ElementwiseCost<1>,
      .lower = Lower,
      .cases = Cases,
  };
  return record;
}

}  // namespace tboost::ops
