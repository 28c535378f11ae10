// The frequencies of the scaling kinds, against their published formulas in double.
#include "src/ops/rope_angles.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "src/ops/cases.h"
#include "src/ops/ops_testing.h"

namespace tboost {
namespace {

constexpr int kPairs = 32;

// Angles of position 1 (so the frequencies themselves), from their sines and cosines.
std::vector<double> Frequencies(const ops::RopeAnglesAttributes& a) {
  OpCase test = MakeCase("position 1", {LayoutType(1, 1), {}}, MakeAttributes(a));
  test.present[1] = false;
  test.lengths = {1};
  test.past = {1};
  const RefTensor angles = RunReference(DrawCase(ops::RopeAngles(), test, 1)).tensors[0];
  std::vector<double> out;
  for (int i = 0; i < kPairs; ++i)
    out.push_back(std::atan2(angles.data[kPairs + i], angles.data[i]));
  return out;
}

double Plain(int pair) { return std::pow(500000.0, -pair / static_cast<double>(kPairs)); }

TEST(RopeAngles, PlainAndLinear) {
  ops::RopeAnglesAttributes a = {.theta = 500000, .rotary_dim = 2 * kPairs};
  const std::vector<double> plain = Frequencies(a);
  a.scaling = ops::RopeScaling::kLinear;
  a.factor = 4;
  const std::vector<double> linear = Frequencies(a);
  for (int i = 0; i < kPairs; ++i) {
    EXPECT_NEAR(plain[i], Plain(i), 1e-6 * Plain(i));
    EXPECT_NEAR(linear[i], Plain(i) / 4, 1e-6 * Plain(i));
  }
}

TEST(RopeAngles, Llama3DividesLowFrequenciesOnly) {
  const std::vector<double> scaled = Frequencies({.theta = 500000,
                                                  .rotary_dim = 2 * kPairs,
                                                  .scaling = ops::RopeScaling::kLlama3,
                                                  .factor = 8,
                                                  .low_freq_factor = 1,
                                                  .high_freq_factor = 4,
                                                  .original_context = 8192});
  int kept = 0, divided = 0, between = 0;
  for (int i = 0; i < kPairs; ++i) {
    const double turns = 8192 * Plain(i) / (2 * std::numbers::pi);  // in the original context
    const double share = std::min(1.0, std::max(0.0, (turns - 1) / 3));
    const double expected = Plain(i) * (share + (1 - share) / 8);
    EXPECT_NEAR(scaled[i], expected, 1e-5 * expected) << i;
    ++(share == 1 ? kept : share == 0 ? divided : between);
  }
  EXPECT_GT(kept, 0);
  EXPECT_GT(divided, 0);
  EXPECT_GT(between, 0);
}

}  // namespace
}  // namespace tboost
