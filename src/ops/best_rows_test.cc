// The best of a product's rows against the rows.
#include <gtest/gtest.h>

#include <algorithm>

#include "src/ops/fused_linear.h"
#include "src/ops/lowering.h"
#include "src/ops/ops_testing.h"
#include "src/ops/shape_rule.h"

namespace tboost {
namespace {

// Operands as they are stored.
std::vector<TensorView> Views(const CaseData& data) {
  std::vector<TensorView> views(data.tensors.size());
  for (size_t i = 0; i < views.size(); ++i)
    if (data.IsTensor(i))
      views[i] = {data.stored[i].data(), data.test.inputs[i].dtype, data.tensors[i].shape};
  return views;
}

// Runs the call of `op` on the case, with `best` where given; false where it does not lower.
bool RunCall(const CaseData& data, const kernels::KernelTable& table, TensorView out,
             const BestRows* best) {
  const std::vector<TensorView> inputs = Views(data);
  const LowerContext context = {.inputs = inputs,
                                .outputs = {&out, 1},
                                .attributes = &data.test.attributes,
                                .layout = nullptr,
                                .cache = {},
                                .kernels = &table,
                                .threads = 2,
                                .l2_bytes = 1 << 20,
                                .best = best};
  const Result<KernelCall> call = data.op->lower(context);
  if (!call.ok()) return false;
  const void* args = call->args.data();
  const size_t bytes = call->scratch(args);
  const Buffer scratch = AllocateBuffer(bytes);
  for (int64_t task = 0; task < call->tasks(args); ++task)
    call->invoke(call->fn, args, task, {scratch.data(), bytes});
  return true;
}

void Expect(const CaseData& data, const kernels::KernelTable& table, int64_t parts, int64_t count) {
  const Shape shape = KnownShape(data.outputs[0]);
  const Buffer rows = AllocateBuffer(shape.elements() * sizeof(float));
  const TensorView out = {rows.data(), DType::kF32, shape};
  ASSERT_TRUE(RunCall(data, table, out, nullptr));
  std::vector<Candidate> found(shape[0] * parts * count);
  const BestRows best = {parts, count, found.data()};
  ASSERT_TRUE(RunCall(data, table, out, &best));
  const auto before = [](const Candidate& a, const Candidate& b) { return a.Before(b); };
  const auto wanted = static_cast<size_t>(std::min(count, shape[1]));
  for (int64_t r = 0; r < shape[0]; ++r) {
    std::vector<Candidate> all, kept;
    for (int64_t c = 0; c < shape[1]; ++c)
      all.push_back({out.as<float>()[r * shape[1] + c], static_cast<int32_t>(c)});
    for (int64_t i = 0; i < parts * count; ++i)
      if (found[r * parts * count + i].id >= 0) kept.push_back(found[r * parts * count + i]);
    std::ranges::sort(all, before);
    std::ranges::sort(kept, before);
    ASSERT_GE(kept.size(), wanted);
    for (size_t i = 0; i < wanted; ++i) {
      EXPECT_EQ(kept[i].id, all[i].id) << "row " << r << " place " << i;
      EXPECT_EQ(kept[i].value, all[i].value);
    }
  }
}

TEST(BestRows, AreThoseOfTheRows) {
  for (const OpRecord* op : BuiltinOps().records) {
    if (!op->ranks) continue;
    uint32_t seed = 1;
    for (const OpCase& test : op->cases()) {
      const CaseData data = DrawCase(*op, test, seed++);
      for (const kernels::KernelTable* table : MachineTables()) {
        SCOPED_TRACE(::testing::Message() << op->name << " " << test.name << " " << table->name);
        const bool gated = op == &ops::FusedLinear() &&
                           CheckedAttributes<ops::FusedLinearAttributes>(test.attributes).gated;
        if (gated || !IsComposable(test.inputs[1].dtype)) {
          const BestRows best;
          EXPECT_FALSE(RunCall(data, *table, {}, &best)) << "such a product has no best";
          continue;
        }
        for (const int64_t parts : {1, 3})
          for (const int64_t count : {1, 7}) Expect(data, *table, parts, count);
      }
    }
  }
}

}  // namespace
}  // namespace tboost
