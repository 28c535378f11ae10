#include "src/parallel/range.h"

#include <gtest/gtest.h>

namespace tboost {
namespace {

TEST(StaticRangeTest, CoversEverythingInOrderAndEvenly) {
  for (int64_t n : {0, 1, 2, 7, 64, 1000, 1001}) {
    for (int count = 1; count <= 9; ++count) {
      int64_t next = 0;
      for (int index = 0; index < count; ++index) {
        const Range range = StaticRange(n, index, count);
        EXPECT_EQ(range.begin, next);
        EXPECT_GE(range.size(), n / count);
        EXPECT_LE(range.size(), n / count + 1);
        next = range.end;
      }
      EXPECT_EQ(next, n);
    }
  }
}

TEST(StaticRangeTest, LargeCountsDoNotOverflow) {
  const int64_t n = INT64_MAX;
  EXPECT_EQ(StaticRange(n, 1023, 1024).end, n);
}

TEST(ChunkCounterTest, CountsUp) {
  ChunkCounter counter;
  for (int64_t i = 0; i < 5; ++i) EXPECT_EQ(counter.Next(), i);
}

}  // namespace
}  // namespace tboost
