#include "src/base/memory_usage.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>

namespace tboost {
namespace {

TEST(MemoryUsageTest, FollowsAnAllocation) {
  constexpr size_t kBytes = size_t{64} << 20;
  const uint64_t before = ReadMemoryUsage().resident;
  ASSERT_GT(before, 0u);
  void* memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  std::memset(memory, 1, kBytes);
  EXPECT_GE(ReadMemoryUsage().resident, before + kBytes * 9 / 10);
  munmap(memory, kBytes);

  const MemoryUsage after = ReadMemoryUsage();
  EXPECT_LT(after.resident, before + kBytes / 2);
  EXPECT_GE(after.peak_resident, before + kBytes * 9 / 10);
  if (ResetPeakMemory()) {
    EXPECT_LT(ReadMemoryUsage().peak_resident, before + kBytes / 2);
  }
}

}  // namespace
}  // namespace tboost
