#include "src/profile/limits.h"

#include <gtest/gtest.h>

namespace tboost {
namespace {

Limits SomeLimits() {
  Limits limits;
  limits.peaks = {{Isa::kBaseline, DType::kF32, 10.0},
                  {Isa::kAvx2, DType::kF32, 40.0},
                  {Isa::kAvx2Vnni, DType::kI8, 160.0}};
  limits.reads = {{"L1", 100, 50.0}, {"memory", UINT64_MAX, 5.0}};
  return limits;
}

TEST(Limits, PeakIsThatOfTheBestInstructionSet) {
  const Limits limits = SomeLimits();
  EXPECT_EQ(limits.Peak(DType::kF32), 40);
  EXPECT_EQ(limits.Peak(DType::kI8), 160);
  EXPECT_EQ(limits.Peak(DType::kBF16), 40) << "multiplied as f32";
}

TEST(Limits, BytesAreReadFromTheNearestLevelThatHoldsThem) {
  const Limits limits = SomeLimits();
  EXPECT_EQ(limits.ReadBandwidth(0), 50);
  EXPECT_EQ(limits.ReadBandwidth(100), 50);
  EXPECT_EQ(limits.ReadBandwidth(101), 5);
}

TEST(Limits, TheSlowerOfMultiplyingAndMovingBinds) {
  const Limits limits = SomeLimits();
  EXPECT_EQ(limits.LeastSeconds(DType::kF32, 400, 0, 0, 50), 10) << "multiplying";
  EXPECT_EQ(limits.LeastSeconds(DType::kF32, 40, 50, 60, 100), 1 + 2) << "moving, all near";
  EXPECT_EQ(limits.LeastSeconds(DType::kF32, 40, 50, 1000, 100), 10 + 2)
      << "the weights of the whole model do not fit the cache";
}

TEST(Limits, MeasuredOnesAreInOrder) {
  auto pool = ThreadPool::Create(2);
  ASSERT_TRUE(pool.ok());
  const Result<std::vector<Isa>> isas = SelectedIsas();
  ASSERT_TRUE(isas.ok());
  const Result<Limits> limits = MeasureLimits(**pool, *isas);
  ASSERT_TRUE(limits.ok()) << limits.status().message();
  EXPECT_EQ(limits->threads, 2);
  EXPECT_EQ(limits->isa, isas->back());
  EXPECT_GT(limits->barrier_seconds, 0);
  for (const PeakRate& peak : limits->peaks) EXPECT_GT(peak.per_second, 1e8) << IsaName(peak.isa);
  ASSERT_FALSE(limits->reads.empty());
  EXPECT_EQ(limits->reads.back().level, "memory");
  for (size_t i = 1; i < limits->reads.size(); ++i)
    EXPECT_GT(limits->reads[i].holds, limits->reads[i - 1].holds);
  for (const ReadRate& read : limits->reads) EXPECT_GT(read.bytes_per_second, 1e8) << read.level;
}

}  // namespace
}  // namespace tboost
