// Transposition of 16 rows into vectors. Included by ISA sources only.
#pragma once

#include <cstdint>

#include "src/kernels/simd/simd.h"

namespace tboost::kernels::TBOOST_ISA {

using F32x4 __attribute__((vector_size(16), aligned(4), may_alias)) = float;

// out[c][0..3] (ldout apart) = rows[0..3][c] for 4 values of c.
TBOOST_INLINE void Transpose4x4(const float* const rows[4], int64_t c, float* out, int64_t ldout) {
  F32x4 in[4];
  for (int i = 0; i < 4; ++i) in[i] = *reinterpret_cast<const F32x4*>(rows[i] + c);
  const F32x4 low01 = __builtin_shufflevector(in[0], in[1], 0, 4, 1, 5);
  const F32x4 low23 = __builtin_shufflevector(in[2], in[3], 0, 4, 1, 5);
  const F32x4 high01 = __builtin_shufflevector(in[0], in[1], 2, 6, 3, 7);
  const F32x4 high23 = __builtin_shufflevector(in[2], in[3], 2, 6, 3, 7);
  const F32x4 columns[4] = {__builtin_shufflevector(low01, low23, 0, 1, 4, 5),
                            __builtin_shufflevector(low01, low23, 2, 3, 6, 7),
                            __builtin_shufflevector(high01, high23, 0, 1, 4, 5),
                            __builtin_shufflevector(high01, high23, 2, 3, 6, 7)};
  for (int i = 0; i < 4; ++i) *reinterpret_cast<F32x4*>(out + i * ldout) = columns[i];
}

// out[c * ldout + r] = rows[r][c] for 16 rows and c < columns.
TBOOST_INLINE void Transpose16(const float* const rows[16], int64_t columns, float* out,
                               int64_t ldout) {
  int64_t c = 0;
  for (; c + 4 <= columns; c += 4) {
    for (int r = 0; r < 16; r += 4) Transpose4x4(rows + r, c, out + c * ldout + r, ldout);
  }
  for (; c < columns; ++c) {
    for (int r = 0; r < 16; ++r) out[c * ldout + r] = rows[r][c];
  }
}

}  // namespace tboost::kernels::TBOOST_ISA
