// Kernel calls of all operators against their references, on every instruction set.
#include <gtest/gtest.h>

#include <cmath>

#include "src/ops/ops_testing.h"

namespace tboost {
namespace {

std::vector<const OpRecord*> LoweredOps() {
  std::vector<const OpRecord*> out;
  for (const OpRecord* op : BuiltinOps().records)
    if (op->lower) out.push_back(op);
  return out;
}

double Largest(const std::vector<double>& values) {
  double out = 0;
  for (double x : values) out = std::max(out, std::abs(x));
  return out;
}

void ExpectNear(const std::vector<double>& actual, const std::vector<double>& expected,
                double tolerance) {
  ASSERT_EQ(actual.size(), expected.size());
  const double limit = tolerance * Largest(expected);
  for (size_t i = 0; i < expected.size(); ++i)
    ASSERT_LE(std::abs(actual[i] - expected[i]), limit)
        << "element " << i << " is " << actual[i] << ", expected " << expected[i];
}

void ExpectNear(const Results& actual, const Results& expected, double tolerance) {
  ASSERT_EQ(actual.tensors.size(), expected.tensors.size());
  for (size_t i = 0; i < expected.tensors.size(); ++i) {
    SCOPED_TRACE(testing::Message() << "output " << i);
    ASSERT_NO_FATAL_FAILURE(
        ExpectNear(actual.tensors[i].data, expected.tensors[i].data, tolerance));
  }
  ASSERT_EQ(actual.cache.keys.size(), expected.cache.keys.size());
  for (size_t s = 0; s < expected.cache.keys.size(); ++s) {
    SCOPED_TRACE(testing::Message() << "cache of sequence " << s);
    ASSERT_NO_FATAL_FAILURE(ExpectNear(actual.cache.keys[s], expected.cache.keys[s], tolerance));
    ASSERT_NO_FATAL_FAILURE(
        ExpectNear(actual.cache.values[s], expected.cache.values[s], tolerance));
  }
}

class LowerTest : public testing::TestWithParam<const OpRecord*> {
 protected:
  // Calls `check` for every case on every instruction set.
  template <class F>
  void ForEachCase(F&& check) {
    uint32_t seed = 1;
    for (const OpCase& test : GetParam()->cases()) {
      const CaseData data = DrawCase(*GetParam(), test, seed++);
      ASSERT_FALSE(data.outputs.empty()) << test.name;
      for (const kernels::KernelTable* table : MachineTables()) {
        SCOPED_TRACE(testing::Message() << test.name << " on " << table->name);
        check(data, *table);
        if (HasFatalFailure()) return;
      }
    }
  }
};

TEST_P(LowerTest, EqualsReference) {
  ForEachCase([](const CaseData& data, const kernels::KernelTable& table) {
    ExpectNear(RunLowered(data, table, {}), RunReference(data), data.op->tolerance);
  });
}

TEST_P(LowerTest, ThreadsAndOrderOfTasksDoNotChangeBits) {
  ForEachCase([](const CaseData& data, const kernels::KernelTable& table) {
    const Results once = RunLowered(data, table, {});
    for (int threads = 1; threads <= 3; ++threads) {
      const RunOptions options = {.threads = threads, .order = static_cast<uint32_t>(threads)};
      ASSERT_TRUE(SameBits(RunLowered(data, table, options), once)) << threads << " threads";
    }
  });
}

TEST_P(LowerTest, StridesDoNotChangeBits) {
  ForEachCase([](const CaseData& data, const kernels::KernelTable& table) {
    ASSERT_TRUE(SameBits(RunLowered(data, table, {.padding = 5}), RunLowered(data, table, {})));
  });
}

TEST_P(LowerTest, InPlaceDoesNotChangeBits) {
  const int operand = GetParam()->in_place_input;
  if (operand < 0) return;
  ForEachCase([&](const CaseData& data, const kernels::KernelTable& table) {
    if (!data.present[operand]) return;
    ASSERT_TRUE(SameBits(RunLowered(data, table, {.in_place = true}), RunLowered(data, table, {})));
  });
}

// Compares the results of `part` with rows [first, first + rows) of those of the whole.
void ExpectRows(const Results& part, const Results& whole, int64_t first, int64_t rows,
                int64_t step_rows, int sequence) {
  for (size_t i = 0; i < whole.tensors.size(); ++i) {
    const RefTensor& all = whole.tensors[i];
    if (all.data.empty()) continue;
    const int64_t columns = all.shape.rank() == 1 ? 1 : all.columns();
    const bool of_step = all.shape[0] == step_rows;
    const auto begin = all.data.begin() + (of_step ? first : sequence) * columns;
    const std::vector<double> expected(begin, begin + (of_step ? rows : 1) * columns);
    ASSERT_EQ(part.tensors[i].data, expected) << "output " << i;
  }
  if (whole.cache.keys.empty()) return;
  ASSERT_EQ(part.cache.keys[0], whole.cache.keys[sequence]);
  ASSERT_EQ(part.cache.values[0], whole.cache.values[sequence]);
}

TEST_P(LowerTest, PartAloneHasTheBitsOfTheBatch) {
  ForEachCase([](const CaseData& data, const kernels::KernelTable& table) {
    const Results whole = RunLowered(data, table, {});
    const int64_t parts = data.layout ? data.layout->view.sequences : StepRows(data);
    for (int part = 0; part < parts; ++part) {
      const int64_t first = data.layout ? data.layout->offsets[part] : part;
      const int64_t rows = data.layout ? data.test.lengths[part] : 1;
      if (rows == 0) continue;
      const CaseData alone = SliceCase(data, first, rows, part);
      ExpectRows(RunLowered(alone, table, {}), whole, first, rows, StepRows(data), part);
      if (testing::Test::HasFatalFailure()) return;
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Ops, LowerTest, testing::ValuesIn(LoweredOps()), OpTestName);

}  // namespace
}  // namespace tboost
