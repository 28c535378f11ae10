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

// Rows [first, first + rows) of x, `stride` apart, into out[k]; the sum ascends from the first row,
// so a sequence gives the same bits in every batch. A sequence without tokens gives zeros.
template <class T>
void PoolRows(PoolKind kind, const T* x, int64_t stride, int64_t rows, int64_t k, T* out) {
  if (rows == 0) {
    std::fill_n(out, k, T{0});
    return;
  }
  std::copy_n(kind == PoolKind::kLast ? x + (rows - 1) * stride : x, k, out);
  if (kind == PoolKind::kCls || kind == PoolKind::kLast) return;
  for (int64_t t = 1; t < rows; ++t)
    for (int64_t i = 0; i < k; ++i) {
      const T value = x[t * stride + i];
      out[i] = kind == PoolKind::kMax ? std::max(out[i], value) : out[i] + value;
    }
  if (kind == PoolKind::kMax) return;
  for (int64_t i = 0; i < k; ++i) out[i] /= static_cast<T>(rows);
}

Status Reference(const RefCall& call) {
  const auto a = CheckedAttributes<PoolAttributes>(*call.attributes);
  const RefTensor& x = *call.inputs[0].tensor;
  const SequenceLayout& layout = *call.inputs[1].layout;
  for (int s = 0; s < layout.sequences; ++s)
    PoolRows(a.kind, x.row(layout.offsets[s]), x.columns(),
             layout.offsets[s + 1] - layout.offsets[s], x.columns(), call.outputs[0].row(s));
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
void PoolSequence(const PoolArgs& args, int64_t task, kernels::Scratch) {
  const int32_t* offsets = args.layout->offsets + task;
  PoolRows(args.kind, args.x + offsets[0] * args.ldx, args.ldx, offsets[1] - offsets[0], args.k,
           args.out + task * args.ldo);
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
