#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "src/base/random.h"
#include "src/kernels/kernels_testing.h"

namespace tboost::kernels {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// By sorting all; -infinity and NaN are never among the best.
std::vector<Candidate> Sorted(std::span<const float> row, int64_t count) {
  std::vector<Candidate> all;
  for (size_t i = 0; i < row.size(); ++i)
    if (row[i] > -kInfinity) all.push_back({row[i], static_cast<int32_t>(i)});
  std::sort(all.begin(), all.end(),
            [](const Candidate& a, const Candidate& b) { return a.Before(b); });
  all.resize(count);
  return all;
}

// Rows in which values repeat, with a few that are no numbers.
std::vector<float> Rows(int64_t m, int64_t n) {
  const HashRandom random(1, "best");
  std::vector<float> x(m * n);
  for (size_t i = 0; i < x.size(); ++i) {
    x[i] = static_cast<float>(random.Below(i, 200)) - 100;
    if (random.Below(i, 31) == 7) x[i] = kNan;
    if (random.Below(i, 41) == 7) x[i] = -kInfinity;
    if (random.Below(i, 301) == 7) x[i] = kInfinity;
  }
  return x;
}

TEST(Best, EqualsSortingOnEveryInstructionSet) {
  for (const int64_t n : {1, 15, 16, 64, 65, 200, 1000}) {
    const int64_t m = 5;
    const std::vector<float> x = Rows(m, n);
    for (const int64_t count : {1, 2, 40}) {
      for (const KernelTable* table : TestedTables()) {
        SCOPED_TRACE(::testing::Message() << table->name << " n " << n << " count " << count);
        // In two parts, the second of which adds to the first.
        std::vector<Candidate> out(m * count);
        const int64_t half = n / 2;
        for (const auto& [first, width] : {std::pair{int64_t{0}, half}, {half, n - half}}) {
          BestArgs args;
          args.m = m;
          args.n = width;
          args.x = x.data() + first;
          args.ldx = n;
          args.first_id = static_cast<int32_t>(first);
          args.count = count;
          args.out = out.data();
          args.ldo = count;
          RunKernel(table->best, args);
        }
        for (int64_t r = 0; r < m; ++r) {
          const std::vector<Candidate> expected = Sorted(std::span(x).subspan(r * n, n), count);
          for (int64_t i = 0; i < count; ++i) {
            ASSERT_EQ(out[r * count + i].id, expected[i].id) << "row " << r << " place " << i;
            ASSERT_EQ(out[r * count + i].value, expected[i].value);
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace tboost::kernels
