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

// Lane l of the two results of an exchange at distance kStep: blocks of kStep lanes change places.
template <int kStep>
constexpr int LowLane(int l) {
  return l & kStep ? 16 + l - kStep : l;
}
template <int kStep>
constexpr int HighLane(int l) {
  return l & kStep ? 16 + l : l + kStep;
}

// One of four steps of a transposition in registers, of vectors that are one register each.
template <int kStep, class Vector>
TBOOST_INLINE void Exchange(Vector rows[16]) {
  Unroll<16>([&](auto i) TBOOST_INLINE_LAMBDA {
    if constexpr ((i & kStep) == 0) {
      constexpr auto kLow = LowLane<kStep>, kHigh = HighLane<kStep>;
      const Vector a = rows[i], b = rows[i + kStep];
      rows[i] = __builtin_shufflevector(a, b, kLow(0), kLow(1), kLow(2), kLow(3), kLow(4), kLow(5),
                                        kLow(6), kLow(7), kLow(8), kLow(9), kLow(10), kLow(11),
                                        kLow(12), kLow(13), kLow(14), kLow(15));
      rows[i + kStep] = __builtin_shufflevector(
          a, b, kHigh(0), kHigh(1), kHigh(2), kHigh(3), kHigh(4), kHigh(5), kHigh(6), kHigh(7),
          kHigh(8), kHigh(9), kHigh(10), kHigh(11), kHigh(12), kHigh(13), kHigh(14), kHigh(15));
    }
  });
}

// out[c * ldout + r] = rows[r][c] for 16 rows and c < columns.
TBOOST_INLINE void Transpose16(const float* const rows[16], int64_t columns, float* out,
                               int64_t ldout) {
  int64_t c = 0;
  if constexpr (kVectorRegisters >= 32 && kParts == 1) {
    for (; c + 16 <= columns; c += 16) {
      native::VF block[16];
      Unroll<16>([&](auto r) TBOOST_INLINE_LAMBDA { block[r] = native::Load(rows[r] + c); });
      Exchange<8>(block);
      Exchange<4>(block);
      Exchange<2>(block);
      Exchange<1>(block);
      Unroll<16>([&](auto r)
                     TBOOST_INLINE_LAMBDA { native::Store(block[r], out + (c + r) * ldout); });
    }
  }
  for (; c + 4 <= columns; c += 4) {
    for (int r = 0; r < 16; r += 4) Transpose4x4(rows + r, c, out + c * ldout + r, ldout);
  }
  for (; c < columns; ++c) {
    for (int r = 0; r < 16; ++r) out[c * ldout + r] = rows[r][c];
  }
}

}  // namespace tboost::kernels::TBOOST_ISA
