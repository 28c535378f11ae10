#include "src/base/random.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tboost {
namespace {

// What tests/golden/hash_random.py prints.
TEST(HashRandomTest, EqualsThePythonGenerator) {
  const HashRandom bits(1, 2);
  EXPECT_EQ(bits.Bits(0), 0xe68e6fc01df08360u);
  EXPECT_EQ(bits.Bits(1), 0x47b76c954434f7e4u);
  EXPECT_EQ(bits.Bits(2), 0x01ef44fb588ba575u);
  EXPECT_EQ(HashRandom::StreamOf("layer.0.weight"), 0x7b3e0c79a947673au);

  const HashRandom weights(7, "layer.0.weight"), ids(7, "ids");
  const float uniform[] = {0x1.34ce1cp-1f, -0x1.45dp-8f, -0x1.21edap-4f, -0x1.36abp-5f};
  const float normal[] = {0x1.29b5b2p-1f, -0x1.9bafd4p+0f, 0x1.3f2d7ep+0f, 0x1.094640p+0f};
  const uint32_t below[] = {21285, 36562, 7754, 6758};
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(weights.Uniform(i), uniform[i]);
    EXPECT_EQ(weights.Normal((uint64_t{1} << 33) + i), normal[i]);
    EXPECT_EQ(ids.Below(i, 50000), below[i]);
  }
}

TEST(HashRandomTest, MomentsAndRanges) {
  constexpr int kCount = 200000;
  const HashRandom random(3, 4);
  double mean[2] = {}, square[2] = {};
  for (int i = 0; i < kCount; ++i) {
    const float values[2] = {random.Uniform(i), random.Normal(i)};
    ASSERT_GE(values[0], -1.0f);
    ASSERT_LT(values[0], 1.0f);
    ASSERT_LE(std::abs(values[1]), 3.4642f);
    for (int k = 0; k < 2; ++k) {
      mean[k] += values[k] / kCount;
      square[k] += static_cast<double>(values[k]) * values[k] / kCount;
    }
  }
  EXPECT_NEAR(mean[0], 0, 0.01);
  EXPECT_NEAR(square[0], 1.0 / 3, 0.01);
  EXPECT_NEAR(mean[1], 0, 0.01);
  EXPECT_NEAR(square[1], 1, 0.01);
}

}  // namespace
}  // namespace tboost
