#include <gtest/gtest.h>

#include <vector>

#include "src/kernels/kernels_testing.h"

namespace tboost::kernels {
namespace {

double Work(const KernelTable& table, PeakArgs args) {
  double work = -1;
  args.work = &work;
  RunKernel(table.peak, args);
  return work;
}

TEST(Peak, WorkGrowsWithTheRoundsAndTheLanes) {
  for (const KernelTable* table : TestedTables()) {
    PeakArgs args;
    args.rounds = 10;
    const double once = Work(*table, args);
    EXPECT_GT(once, 0) << table->name;
    args.rounds = 30;
    EXPECT_EQ(Work(*table, args), 3 * once) << table->name;
  }
}

TEST(Peak, KindsThatAnInstructionSetLacksDoNoWork) {
  const KernelTable& baseline = *TestedTables().front();
  PeakArgs args;
  args.rounds = 5;
  for (const PeakKind kind : {PeakKind::kBF16, PeakKind::kInt8}) {
    args.kind = kind;
    EXPECT_EQ(Work(baseline, args), 0);
  }
}

// An instruction of a variant multiplies 2 (bf16) or 4 (int8) numbers a lane.
TEST(Peak, VariantsMultiplySmallerTypesFaster) {
  for (const KernelTable* table : TestedVariants()) {
    PeakArgs args;
    args.rounds = 5;
    const double f32 = Work(*table, args);
    args.kind = PeakKind::kInt8;
    EXPECT_EQ(Work(*table, args), 4 * f32) << table->name;
    args.kind = PeakKind::kBF16;
    const double bf16 = Work(*table, args);
    EXPECT_TRUE(bf16 == 0 || bf16 == 2 * f32) << table->name;
  }
}

TEST(Peak, ReadingStaysInsideTheBlock) {
  constexpr int64_t kBytes = 4096;
  const std::vector<char> block(kBytes, 1);  // its end is the end of an allocation, for ASan
  for (const KernelTable* table : TestedTables()) {
    PeakArgs args;
    args.kind = PeakKind::kRead;
    args.rounds = 3;
    args.block = block.data();
    args.bytes = kBytes;
    EXPECT_EQ(Work(*table, args), 3.0 * kBytes) << table->name;
  }
}

}  // namespace
}  // namespace tboost::kernels
