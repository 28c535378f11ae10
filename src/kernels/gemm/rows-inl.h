// The rows of a task, packed for the micro-kernels, with their norm applied. Included by ISA
// sources only.
#pragma once

#include "src/kernels/gemm/gemm_sizes.h"
#include "src/kernels/norm/norm-inl.h"

namespace tboost::kernels::TBOOST_ISA {

// Rows [first, first + count) over [k_first, k_first + k_count) as [k / kChunk][count][kChunk]; the
// last chunk is filled up with zeros. `statistics` belong to those rows.
inline void PackRows(const GemmArgs& args, const RowStatistics* statistics, int64_t first,
                     int64_t count, int64_t k_first, int64_t k_count, float* packed) {
  for (int64_t r = 0; r < count; ++r) {
    const float* row = args.a + (first + r) * args.lda;
    for (int64_t k = 0; k < k_count; k += kChunk) {
      float* chunk = packed + (k / kChunk * count + r) * kChunk;
      const int64_t n = k_count - k < kChunk ? k_count - k : kChunk;
      const int64_t at = k_first + k;
      if (n < kChunk) {
        Store(Zero(), chunk);
        Store(Zero(), chunk + kVectorLanes);
      }
      if (args.norm.kind == NormKind::kNone) {
        ForVectors(n, [&](int64_t i, auto span) TBOOST_INLINE_LAMBDA {
          span.StoreTo(span.LoadFrom(row + at + i), chunk + i);
        });
      } else {
        Normalize(statistics[r], args.norm.gamma ? args.norm.gamma + at : nullptr,
                  args.norm.beta ? args.norm.beta + at : nullptr, row + at, n, chunk);
      }
    }
  }
}

}  // namespace tboost::kernels::TBOOST_ISA
