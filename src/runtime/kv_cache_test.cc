#include "src/runtime/kv_cache.h"

#include <algorithm>
#include <set>

#include "src/base/memory_usage.h"
#include "src/base/random.h"
#include "src/formats/test_bytes.h"
#include "tests/sanitized.h"

namespace tboost {
namespace {

using testing::FailsWith;

KvPool MakePool(std::vector<KvLayer> layers, int64_t tokens, DType dtype = DType::kF32) {
  auto pool = KvPool::Create(std::move(layers), tokens, dtype);
  EXPECT_TRUE(pool.ok()) << pool.status().message();
  return *std::move(pool);
}

// The floats of a whole page of tokens, all layers.
std::span<float> Page(const KvPool& pool, int32_t page) {
  const KvCacheView view = pool.View(0);
  return {reinterpret_cast<float*>(view.base + page * view.page_stride),
          static_cast<size_t>(view.page_stride) / sizeof(float)};
}

TEST(KvPool, ReservesWholePagesAndGivesThemBack) {
  KvPool pool = MakePool({{2, 8}}, 1000);
  EXPECT_EQ(pool.max_pages(), 16);
  KvSequence sequence;
  ASSERT_TRUE(pool.Reserve(sequence, 64).ok());
  EXPECT_EQ(sequence.pages.size(), 1u);
  sequence.length = 64;
  ASSERT_TRUE(pool.Reserve(sequence, 1).ok());
  EXPECT_EQ(sequence.pages.size(), 2u);
  ASSERT_TRUE(pool.Reserve(sequence, 64).ok());
  EXPECT_EQ(sequence.pages.size(), 2u) << "there is room already";
  sequence.length = 128;
  pool.Truncate(sequence, 65);
  EXPECT_EQ(sequence.pages.size(), 2u);
  EXPECT_EQ(sequence.length, 65);
  pool.Truncate(sequence, 64);
  EXPECT_EQ(sequence.pages.size(), 1u);
  pool.Truncate(sequence, 1000);
  EXPECT_EQ(sequence.length, 64) << "truncation does not lengthen";
  pool.Truncate(sequence, 0);
  EXPECT_EQ(pool.pages_in_use(), 0);
}

TEST(KvPool, AFailedReservationChangesNothing) {
  KvPool pool = MakePool({{1, 8}}, 256);
  KvSequence a, b;
  ASSERT_TRUE(pool.Reserve(a, 192).ok());
  EXPECT_THAT(pool.Reserve(b, 65),
              FailsWith(StatusCode::kResourceExhausted, "2 pages of 64 tokens needed, 1 of 4"));
  EXPECT_TRUE(b.pages.empty());
  EXPECT_EQ(pool.pages_in_use(), 3);
  EXPECT_TRUE(pool.Reserve(b, 64).ok());
  EXPECT_FALSE(pool.Reserve(a, 193).ok());
  EXPECT_EQ(a.pages.size(), 3u);
}

TEST(KvPool, NoTwoSequencesShareAPage) {
  KvPool pool = MakePool({{1, 8}}, 64 * 32);
  const HashRandom random(1, "pages");
  std::vector<KvSequence> sequences(4);
  for (uint64_t step = 0; step < 2000; ++step) {
    KvSequence& s = sequences[random.Below(3 * step, 4)];
    const auto tokens = static_cast<int64_t>(random.Below(3 * step + 1, 200));
    if (random.Below(3 * step + 2, 2)) {
      if (pool.Reserve(s, tokens).ok()) s.length += tokens;
    } else {
      pool.Truncate(s, tokens);
    }
    std::set<int32_t> used;
    size_t count = 0;
    for (const KvSequence& sequence : sequences) {
      used.insert(sequence.pages.begin(), sequence.pages.end());
      count += sequence.pages.size();
      ASSERT_LE(sequence.length, static_cast<int64_t>(sequence.pages.size()) * kPageTokens);
    }
    ASSERT_EQ(used.size(), count);
    ASSERT_EQ(pool.pages_in_use(), static_cast<int64_t>(count));
    ASSERT_LE(used.empty() ? 0 : *used.rbegin(), pool.max_pages() - 1);
  }
}

TEST(KvPool, AFreedPageLeavesItsNeighboursAlone) {
  // Layers so small that a page of tokens is no whole number of pages of the system.
  KvPool pool = MakePool({{1, 3}, {1, 1}}, 64 * 4);
  KvSequence first, second;
  ASSERT_TRUE(pool.Reserve(first, 64).ok());
  ASSERT_TRUE(pool.Reserve(second, 64).ok());
  std::ranges::fill(Page(pool, second.pages[0]), 7.0f);
  pool.Truncate(first, 0);
  EXPECT_TRUE(std::ranges::all_of(Page(pool, second.pages[0]), [](float x) { return x == 7; }));
}

TEST(KvPool, LayersOfAPageLieApart) {
  const std::vector<KvLayer> layers = {{2, 16}, {1, 24}, {4, 8}};
  for (DType dtype : {DType::kF32, DType::kBF16, DType::kI8}) {
    KvPool pool = MakePool(layers, 128, dtype);
    KvSequence sequence;
    ASSERT_TRUE(pool.Reserve(sequence, 128).ok());
    const auto page_of = [&](int layer, int32_t page) {
      const KvCacheView view = pool.View(layer);
      return std::span(view.Keys(page, 0).data, static_cast<size_t>(view.PageBytes()));
    };
    const auto mark = [](int layer, int32_t page) { return std::byte(10 * page + layer); };
    for (int32_t page : {0, 1})
      for (int layer = 0; layer < 3; ++layer)
        std::ranges::fill(page_of(layer, page), mark(layer, page));
    for (int32_t page : {0, 1})
      for (int layer = 0; layer < 3; ++layer)
        EXPECT_TRUE(std::ranges::all_of(page_of(layer, page),
                                        [&](std::byte x) { return x == mark(layer, page); }));
  }
}

TEST(KvPool, APageHasItsKeysAndValuesAndTheScalesOfInt8) {
  const int64_t elements = int64_t{2} * 16 * 128 * kPageTokens;
  EXPECT_EQ(MakePool({{16, 128}}, 64).page_bytes(), elements * 4);
  EXPECT_EQ(MakePool({{16, 128}}, 64, DType::kBF16).page_bytes(), elements * 2);
  EXPECT_EQ(MakePool({{16, 128}}, 64, DType::kI8).page_bytes(), elements + elements / 128 * 4);
}

TEST(KvPool, MemoryIsTakenByThePageAndFallsAgain) {
  TBOOST_SKIP_IF_SANITIZED();
  // 8 GiB of address space.
  KvPool pool = MakePool({{16, 128}}, 64 * 8192);
  ASSERT_EQ(pool.page_bytes(), 1 << 20);
  const uint64_t before = ReadMemoryUsage().resident;
  KvSequence sequence;
  ASSERT_TRUE(pool.Reserve(sequence, 64 * 64).ok());
  for (int32_t page : sequence.pages) std::ranges::fill(Page(pool, page), 1.0f);
  const uint64_t full = ReadMemoryUsage().resident;
  pool.Truncate(sequence, 0);
  const uint64_t after = ReadMemoryUsage().resident;
  EXPECT_NEAR(static_cast<double>(full - before), 64 << 20, 8 << 20);
  EXPECT_NEAR(static_cast<double>(after - before), 32 << 20, 8 << 20) << "what is kept";
  for (int round = 0; round < 3; ++round) {  // and used again
    ASSERT_TRUE(pool.Reserve(sequence, 64 * 32).ok());
    for (int32_t page : sequence.pages) std::ranges::fill(Page(pool, page), 1.0f);
    pool.Truncate(sequence, 0);
    EXPECT_LE(ReadMemoryUsage().peak_resident, full + (8 << 20));
    EXPECT_LE(ReadMemoryUsage().resident, after + (8 << 20));
  }
}

TEST(KvPool, MoreThanTheAddressSpaceIsAnError) {
  EXPECT_THAT(KvPool::Create({{4096, 4096}}, int64_t{1} << 40),
              FailsWith(StatusCode::kResourceExhausted, "kv cache"));
  EXPECT_THAT(KvPool::Create({{4096, 4096}}, int64_t{1} << 62),
              FailsWith(StatusCode::kResourceExhausted, "kv cache"));
  KvPool none = MakePool({}, 64);
  KvSequence sequence;
  EXPECT_TRUE(none.Reserve(sequence, 64).ok());
}

}  // namespace
}  // namespace tboost
