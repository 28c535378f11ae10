// The rows of a task, packed for the micro-kernels, with their norm applied. Included by ISA
// sources only.
#pragma once

#include "src/kernels/gemm/gemm_sizes.h"
#include "src/kernels/norm/norm-inl.h"

namespace tboost::kernels::TBOOST_ISA {

// Rows are fetched, and the places they go to, so many rows ahead: the first task to read them
// finds them in other caches, and a store waits for its line.
inline constexpr int64_t kAhead = 2;

// One row of k_count elements into every step-th chunk from `packed` on; value(i, span) are its
// elements from i on.
template <class Value>
TBOOST_INLINE void PackRow(int64_t k_count, float* packed, int64_t step, const Value& value) {
  int64_t k = 0;
  for (; k + kChunk <= k_count; k += kChunk, packed += step) {
    Prefetch(packed + kAhead * kChunk);
    Prefetch(packed + kAhead * kChunk + kVectorLanes);
    Store(value(k, WholeSpan{}), packed);
    Store(value(k + kVectorLanes, WholeSpan{}), packed + kVectorLanes);
  }
  if (k == k_count) return;
  Store(Zero(), packed);
  Store(Zero(), packed + kVectorLanes);
  ForVectors(k_count - k, [&](int64_t i, auto span) TBOOST_INLINE_LAMBDA {
    span.StoreTo(value(k + i, span), packed + i);
  });
}

// Rows [first, first + count) over [k_first, k_first + k_count) as [k / kChunk][count][kChunk]; the
// last chunk is filled up with zeros. `statistics` belong to those rows.
inline void PackRows(const GemmArgs& args, const RowStatistics* statistics, int64_t first,
                     int64_t count, int64_t k_first, int64_t k_count, float* packed) {
  const float* gamma = args.norm.gamma ? args.norm.gamma + k_first : nullptr;
  const float* beta = args.norm.beta ? args.norm.beta + k_first : nullptr;
  for (int64_t r = 0; r < count; ++r, packed += kChunk) {
    const float* row = args.a + (first + r) * args.lda + k_first;
    if (r + kAhead < count)
      for (int64_t k = 0; k < k_count; k += kVectorLanes) Prefetch(row + kAhead * args.lda + k);
    if (args.norm.kind == NormKind::kNone) {
      PackRow(k_count, packed, count * kChunk,
              [&](int64_t i, auto span) TBOOST_INLINE_LAMBDA { return span.LoadFrom(row + i); });
    } else {
      const Normalizer normalize(statistics[r], gamma, beta);
      PackRow(k_count, packed, count * kChunk,
              [&](int64_t i, auto span) TBOOST_INLINE_LAMBDA { return normalize(row, i, span); });
    }
  }
}

}  // namespace tboost::kernels::TBOOST_ISA
