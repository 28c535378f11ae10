#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "src/kernels/attention/attention_tasks.h"
#include "src/kernels/attention/attention_testing.h"
#include "src/kernels/kernels_testing.h"

namespace tboost::kernels {
namespace {

void ExpectNear(const std::vector<float>& got, const std::vector<double>& want, double tolerance) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    ASSERT_LE(std::abs(got[i] - want[i]), tolerance) << "element " << i << ": " << got[i];
  }
}

::testing::AssertionResult SameBits(const float* a, const float* b, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    if (std::memcmp(a + i, b + i, sizeof(float)) != 0) {
      return ::testing::AssertionFailure() << "element " << i << ": " << a[i] << " and " << b[i];
    }
  }
  return ::testing::AssertionSuccess();
}

::testing::AssertionResult SameBits(const std::vector<float>& a, const std::vector<float>& b) {
  if (a.size() != b.size()) return ::testing::AssertionFailure() << "sizes differ";
  return SameBits(a.data(), b.data(), a.size());
}

struct Case {
  AttentionShape shape;
  std::vector<int> lengths;
  float query_scale = 1;
};

std::vector<Case> Cases() {
  std::vector<Case> cases = {
      {{.heads = 2, .kv_heads = 2, .head_dim = 64}, {1, 130, 0, 64}},
      {{.heads = 4, .kv_heads = 2, .head_dim = 64, .causal = true}, {70, 1, 129}},
      {{.heads = 12, .kv_heads = 12, .head_dim = 32}, {128, 300, 2}},
      {{.heads = 9, .kv_heads = 3, .head_dim = 64, .causal = true}, {63, 65}},
      {{.heads = 7, .kv_heads = 1, .head_dim = 48, .causal = true, .window = 33}, {150}},
      {{.heads = 4, .kv_heads = 1, .head_dim = 256, .causal = true, .window = 100}, {131}},
      {{.heads = 1, .kv_heads = 1, .head_dim = 512}, {17}},
      {{.heads = 3, .kv_heads = 1, .head_dim = 64, .causal = true, .softcap = 20}, {100}, 4},
      {{.heads = 2, .kv_heads = 1, .head_dim = 64, .causal = true}, {140}, 1000},  // sharp
  };
  for (int head_dim : {8, 16, 24, 32, 40, 72, 80, 96, 112, 128}) {
    cases.push_back({{.heads = 2, .kv_heads = 1, .head_dim = head_dim}, {37, 66}});
    cases.push_back({{.heads = 2, .kv_heads = 1, .head_dim = head_dim, .causal = true}, {67}});
  }
  for (int length : {7, 8, 9, 71, 72, 73}) {  // around the window, once across blocks
    const int window = length < 64 ? 8 : 72;
    cases.push_back(
        {{.heads = 2, .kv_heads = 1, .head_dim = 16, .causal = true, .window = window}, {length}});
  }
  return cases;
}

TEST(Attention, EqualsTheReferenceOnEveryInstructionSet) {
  uint64_t seed = 1;
  for (const Case& c : Cases()) {
    const AttentionProblem problem(c.shape, c.lengths, seed++, c.query_scale);
    const std::vector<double> want = problem.Reference();
    // An error of a score, which grows with it, is a relative error of its weight.
    const double tolerance = 2e-6 + 2e-6 * c.query_scale;
    for (const KernelTable* table : TestedTables()) {
      SCOPED_TRACE(::testing::Message() << table->name << ", head_dim " << c.shape.head_dim
                                        << ", window " << c.shape.window << ", seed " << seed);
      const std::vector<float> direct = problem.RunDirect(*table);
      ExpectNear(direct, want, tolerance);
      // Nor does it matter where keys and values come from.
      EXPECT_TRUE(SameBits(direct, problem.RunCached(*table, 1000)));
    }
  }
}

TEST(Attention, EmulationHasTheBitsOfAvx512) {
  const std::vector<const KernelTable*> tables = TablesOfEqualBits();
  if (tables.empty()) GTEST_SKIP() << "NOT RUN: no AVX-512";
  for (const Case& c : Cases()) {
    const AttentionProblem problem(c.shape, c.lengths, 5, c.query_scale);
    EXPECT_TRUE(SameBits(problem.RunDirect(*tables[0]), problem.RunDirect(*tables[1])));
  }
}

TEST(Attention, ChunksOfAPromptDoNotMatter) {
  for (const AttentionShape& shape :
       {AttentionShape{.heads = 6, .kv_heads = 2, .head_dim = 64, .causal = true},
        AttentionShape{.heads = 4, .kv_heads = 4, .head_dim = 40, .causal = true, .window = 50},
        AttentionShape{.heads = 5, .kv_heads = 1, .head_dim = 96, .causal = true, .softcap = 5}}) {
    const AttentionProblem problem(shape, {135, 3, 80}, 11);
    for (const KernelTable* table : TestedTables()) {
      const std::vector<float> whole = problem.RunCached(*table, 1000);
      for (int chunk : {1, 7, 16, 64, 100}) {
        EXPECT_TRUE(SameBits(whole, problem.RunCached(*table, chunk))) << table->name << chunk;
      }
    }
  }
}

// Keys and values that every format holds exactly: codes with the greatest one in each head, times
// a power of two that differs between tokens.
AttentionProblem ExactProblem(const AttentionShape& shape, std::vector<int> lengths) {
  AttentionProblem problem(shape, lengths, 21);
  const HashRandom random(21, "codes");
  const size_t q_floats = static_cast<size_t>(problem.row());
  for (size_t i = 0; i < problem.data().size(); ++i) {
    const size_t token = i / problem.q_stride(), column = i % problem.q_stride();
    if (column < q_floats) continue;
    const bool first = (column - q_floats) % shape.head_dim == 0;
    const int code = first ? 127 : static_cast<int>(random.Below(i, 255)) - 127;
    problem.data()[i] = std::ldexp(static_cast<float>(code), -6 - static_cast<int>(token % 3));
  }
  return problem;
}

TEST(Attention, FormatsOfTheCacheGiveEqualBitsWhereTheyAreExact) {
  for (const AttentionShape& shape :
       {AttentionShape{.heads = 6, .kv_heads = 2, .head_dim = 64, .causal = true},
        AttentionShape{.heads = 4, .kv_heads = 4, .head_dim = 40, .causal = true, .window = 50}}) {
    const AttentionProblem problem = ExactProblem(shape, {135, 3, 80});
    for (const KernelTable* table : TestedTables()) {
      const std::vector<float> want = problem.RunCached(*table, 1000);
      for (DType dtype : {DType::kBF16, DType::kI8}) {
        for (int chunk : {1, 7, 100, 1000}) {
          EXPECT_TRUE(SameBits(want, problem.RunCached(*table, chunk, dtype)))
              << table->name << ' ' << DTypeName(dtype) << ' ' << chunk;
        }
      }
    }
  }
}

TEST(Attention, ChunksDoNotMatterInAnyFormatOfTheCache) {
  const AttentionProblem problem({.heads = 6, .kv_heads = 2, .head_dim = 72, .causal = true},
                                 {130, 40}, 22);
  const std::vector<double> exact = problem.Reference();
  for (const KernelTable* table : TestedTables()) {
    for (DType dtype : {DType::kBF16, DType::kI8}) {
      const std::vector<float> whole = problem.RunCached(*table, 1000, dtype);
      ExpectNear(whole, exact, 0.03);  // elements of 8 bits
      for (int chunk : {1, 16, 63}) {
        EXPECT_TRUE(SameBits(whole, problem.RunCached(*table, chunk, dtype)))
            << table->name << ' ' << DTypeName(dtype) << ' ' << chunk;
      }
    }
  }
}

TEST(Attention, ASequenceInABatchHasTheBitsOfItAlone) {
  const std::vector<int> lengths = {5, 129, 0, 1, 64, 33};
  for (bool causal : {false, true}) {
    const AttentionShape shape = {.heads = 6, .kv_heads = 3, .head_dim = 32, .causal = causal};
    const AttentionProblem batch(shape, lengths, 12);
    for (const KernelTable* table : TestedTables()) {
      const std::vector<float> together = batch.RunDirect(*table);
      for (size_t s = 0; s < lengths.size(); ++s) {
        const std::vector<float> alone = batch.Alone(static_cast<int>(s)).RunDirect(*table);
        EXPECT_TRUE(SameBits(alone.data(), &together[batch.First(s) * batch.row()], alone.size()))
            << table->name << ", sequence " << s;
      }
    }
  }
}

TEST(Attention, ATokenCannotSpoilEarlierOnes) {
  const AttentionShape shape = {.heads = 2, .kv_heads = 1, .head_dim = 64, .causal = true};
  const AttentionProblem clean(shape, {100}, 13);
  AttentionProblem spoilt = clean;
  constexpr int kToken = 41;
  for (int i = 0; i < spoilt.q_stride(); ++i) {
    spoilt.data()[kToken * spoilt.q_stride() + i] = std::numeric_limits<float>::quiet_NaN();
  }
  for (const KernelTable* table : TestedTables()) {
    const std::vector<float> want = clean.RunDirect(*table), got = spoilt.RunDirect(*table);
    EXPECT_TRUE(SameBits(want.data(), got.data(), kToken * clean.row())) << table->name;
    EXPECT_TRUE(std::isnan(got[kToken * clean.row()])) << table->name;
  }
}

TEST(Attention, ARowWhoseKeysAllScoreMinusInfinityIsZero) {
  AttentionProblem problem({.heads = 1, .kv_heads = 1, .head_dim = 16}, {20}, 14);
  for (int token = 0; token < 20; ++token) {
    float* q = &problem.data()[token * problem.q_stride()];
    for (int d = 0; d < 16; ++d) q[d] = 1;
    for (int d = 0; d < 16; ++d) q[16 + d] = -std::numeric_limits<float>::infinity();
  }
  for (const KernelTable* table : TestedTables()) {
    for (float value : problem.RunDirect(*table)) EXPECT_EQ(value, 0) << table->name;
  }
}

TEST(Attention, TasksCoverEveryQueryOnce) {
  const std::vector<std::vector<int>> batches = {
      {1}, {0, 0, 7}, {1, 1, 1, 1}, {4096}, {128, 3, 500, 0, 41, 42, 43}, std::vector<int>(300, 2)};
  for (const std::vector<int>& lengths : batches) {
    for (int group : {1, 3, 8, 200}) {
      std::vector<int32_t> offsets = {0};
      for (int length : lengths) offsets.push_back(offsets.back() + length);
      SequenceLayout layout;
      layout.sequences = static_cast<int>(lengths.size());
      layout.tokens = offsets.back();
      layout.offsets = offsets.data();
      AttentionArgs args;
      args.kv_heads = 2;
      args.heads = 2 * group;
      args.head_dim = 8;
      args.layout = &layout;
      std::vector<int> covered(2 * layout.tokens);
      for (int64_t task = 0; task < Tasks(args); ++task) {
        const AttentionTask found = LocateAttentionTask(args, task);
        ASSERT_LE(found.queries * group, AttentionRows(args));
        for (int64_t i = 0; i < found.queries; ++i) {
          ASSERT_LT(found.first_query + i, lengths[found.sequence]);
          ++covered[2 * (offsets[found.sequence] + found.first_query + i) + found.kv_head];
        }
      }
      for (int times : covered) ASSERT_EQ(times, 1);
    }
  }
}

}  // namespace
}  // namespace tboost::kernels
