// The rows of a task, packed for the micro-kernels, with their norm applied. Included by ISA
// sources only.
#pragma once

#include "src/kernels/gemm/gemm_sizes.h"
#include "src/kernels/gemm/words-inl.h"
#include "src/kernels/norm/norm-inl.h"

namespace tboost::kernels::TBOOST_ISA {

// Rows are fetched, and the places they go to, so many rows ahead: the first task to read them
// finds them in other caches, and a store waits for its line.
inline constexpr int64_t kAhead = 2;

// One row of k_count elements, as words, into every step-th chunk from `packed` on; value(i, span)
// are its elements from i on.
template <class Words, class Value>
TBOOST_INLINE void PackRow(int64_t k_count, float* packed, int64_t step, const Value& value) {
  constexpr int64_t kHalf = kVectorLanes * Words::kElements;  // elements of half a chunk
  int64_t k = 0;
  for (; k + 2 * kHalf <= k_count; k += 2 * kHalf, packed += step) {
    for (int64_t half = 0; half < 2; ++half) {
      Prefetch(packed + kAhead * kChunk + half * kVectorLanes);
      Store(Words::Make([&](int64_t i) TBOOST_INLINE_LAMBDA {
              return value(k + half * kHalf + i, WholeSpan{});
            }),
            packed + half * kVectorLanes);
    }
  }
  if (k == k_count) return;
  for (int64_t half = 0; half < 2; ++half, k += kHalf) {  // zeros past the end
    Store(Words::Make([&](int64_t i) TBOOST_INLINE_LAMBDA {
            const int64_t left = k_count - k - i;
            if (left <= 0) return Zero();
            const PartialSpan span{static_cast<int>(left < kVectorLanes ? left : kVectorLanes)};
            return span.Keep(value(k + i, span), Zero());
          }),
          packed + half * kVectorLanes);
  }
}

// Rows [first, first + count) over [k_first, k_first + k_count) as [chunk][count][kChunk words];
// the last chunk is filled up with zeros. `statistics` belong to those rows.
template <class Words>
void PackRows(const GemmArgs& args, const RowStatistics* statistics, int64_t first, int64_t count,
              int64_t k_first, int64_t k_count, float* packed) {
  const float* gamma = args.norm.gamma ? args.norm.gamma + k_first : nullptr;
  const float* beta = args.norm.beta ? args.norm.beta + k_first : nullptr;
  const bool round = args.round_rows && Words::kElements == 1;
  for (int64_t r = 0; r < count; ++r, packed += kChunk) {
    const float* row = args.a + (first + r) * args.lda + k_first;
    if (r + kAhead < count)
      for (int64_t k = 0; k < k_count; k += kVectorLanes) Prefetch(row + kAhead * args.lda + k);
    const auto pack = [&](const auto& value) TBOOST_INLINE_LAMBDA {
      if (round) {
        PackRow<Words>(k_count, packed, count * kChunk,
                       [&](int64_t i, auto span)
                           TBOOST_INLINE_LAMBDA { return RoundToBF16(value(i, span)); });
      } else {
        PackRow<Words>(k_count, packed, count * kChunk, value);
      }
    };
    if (args.norm.kind == NormKind::kNone) {
      pack([&](int64_t i, auto span) TBOOST_INLINE_LAMBDA { return span.LoadFrom(row + i); });
    } else {
      const Normalizer normalize(statistics[r], gamma, beta);
      pack([&](int64_t i, auto span) TBOOST_INLINE_LAMBDA { return normalize(row, i, span); });
    }
  }
}

}  // namespace tboost::kernels::TBOOST_ISA
