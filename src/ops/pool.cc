#include "src/ops/pool.h"

#include <algorithm>

#include "src/ops/cases.h"
#include "src/ops/cost.h"
#include "src/ops/lowering.h"
#include "src/ops/shape_rule.h"

namespace tboost::ops {
namespace {

Result<std::vector<ValueType>> Infer(std::span<const ValueType> inputs,
                                     std::span<const bool> present, const Attributes& attributes) {
  TBOOST_RETURN_IF_ERROR(ParseAttributes<PoolAttributes>(attributes, "pool").status());
  ShapeRule rule(Pool(), inputs, present);
  rule.Operand(0, "tk").Operand(1, "ts");
  return rule.Outputs({"sk"});
}

// A sequence without tokens gives zeros.
double PoolColumn(PoolKind kind, const RefTensor& x, int64_t first, int64_t end, int64_t column) {
  if (first == end) return 0;
  double sum = 0, largest = x.row(first)[column];
  for (int64_t t = first; t < end; ++t) {
    sum += x.row(t)[column];
    largest = std::max(largest, x.row(t)[column]);
  }
  switch (kind) {
    case PoolKind::kMean:
      return sum / static_cast<double>(end - first);
    case PoolKind::kCls:
      return x.row(first)[column];
    case PoolKind::kLast:
      return x.row(end - 1)[column];
    case PoolKind::kMax:
      return largest;
  }
  return 0;
}

Status Reference(const RefCall& call) {
  const auto a = CheckedAttributes<PoolAttributes>(*call.attributes);
  const RefTensor& x = *call.inputs[0].tensor;
  const SequenceLayout& layout = *call.inputs[1].layout;
  for (int s = 0; s < layout.sequences; ++s)
    for (int64_t k = 0; k < x.columns(); ++k)
      call.outputs[0].row(s)[k] =
          PoolColumn(a.kind, x, layout.offsets[s], layout.offsets[s + 1], k);
  return OkStatus();
}

struct PoolArgs {
  PoolKind kind;
  const SequenceLayout* layout;
  const float* x;
  int64_t ldx, k;
  float* out;
  int64_t ldo;
};

int64_t PoolTasks(const PoolArgs& args) { return args.layout->sequences; }
// The sum ascends from the first row, so a sequence gives the same bits in every batch.
void PoolSequence(const PoolArgs& args, int64_t task, kernels::Scratch) {
  const int64_t first = args.layout->offsets[task], rows = args.layout->offsets[task + 1] - first;
  const float* x = args.x + first * args.ldx;
  float* out = args.out + task * args.ldo;
  if (rows == 0) {
    std::fill_n(out, args.k, 0.0f);
    return;
  }
  std::copy_n(args.kind == PoolKind::kLast ? x + (rows - 1) * args.ldx : x, args.k, out);
  if (args.kind == PoolKind::kCls || args.kind == PoolKind::kLast) return;
  for (int64_t t = 1; t < rows; ++t)
    for (int64_t i = 0; i < args.k; ++i) {
      const float value = x[t * args.ldx + i];
      out[i] = args.kind == PoolKind::kMax ? std::max(out[i], value) : out[i] + value;
    }
  if (args.kind == PoolKind::kMax) return;
  for (int64_t i = 0; i < args.k; ++i) out[i] /= static_cast<float>(rows);
}

Result<KernelCall> Lower(const LowerContext& context) {
  const auto a = CheckedAttributes<PoolAttributes>(*context.attributes);
  const TensorView &x = context.inputs[0], &out = context.outputs[0];
  const PoolArgs args = {a.kind,         context.layout,     Floats(x),   x.stride(),
                         x.shape.back(), MutableFloats(out), out.stride()};
  return MakeKernelCall("pool", PoolSequence, args, PoolTasks, NoScratch<PoolArgs>);
}

std::vector<OpCase> Cases() {
  std::vector<OpCase> cases;
  for (const auto& [kind, name] : EnumNames<PoolKind>::kNames) {
    cases.push_back(MakeCase(std::string(name), {TensorType({50, 37}), LayoutType(50, 4)},
                             MakeAttributes(PoolAttributes{kind})));
    cases.back().lengths = {1, 40, 0, 9};
    cases.back().past = {0, 0, 0, 0};
  }
  return cases;
}

}  // namespace

const OpRecord& Pool() {
  static const OpRecord record = {
      .name = "pool",
      .doc = "y[s] = the mean, maximum, first or last row of sequence s in x.",
      .inputs = {{"x"}, {"layout", ValueType::Kind::kLayout}},
      .outputs = {"y"},
      .attributes = DescribeAttributes<PoolAttributes>(),
      .infer = Infer,
      .reference = Reference,
      .cost = ElementwiseCost<2>,
      .lower = Lower,
      .cases = Cases,
  };
  return record;
}

}  // namespace tboost::ops
