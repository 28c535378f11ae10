// Division of work between the workers of a region.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace tboost {

// Half-open.
struct Range {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t size() const { return end - begin; }
  bool operator==(const Range&) const = default;
};

// The share of worker `index` of `count` in n items: consecutive, sizes differing by at most one.
inline Range StaticRange(int64_t n, int index, int count) {
  const int64_t share = n / count, extra = n % count;
  const int64_t begin = share * index + std::min<int64_t>(index, extra);
  return {begin, begin + share + (index < extra ? 1 : 0)};
}

// Hands out chunk numbers 0, 1, 2... to whoever asks first: for work of uneven cost. One per loop,
// shared by the workers of a region; alone on its cache line.
struct alignas(64) ChunkCounter {
  std::atomic<int64_t> next{0};
  int64_t Next() { return next.fetch_add(1, std::memory_order_relaxed); }
};

}  // namespace tboost
