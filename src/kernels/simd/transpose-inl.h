// Transposition of 16 rows into vectors. Included by ISA sources only.
#pragma once

#include <cstdint>

#include "src/kernels/simd/simd.h"

namespace tboost::kernels::TBOOST_ISA {

using F32x4 __attribute__((vector_size(16), aligned(4), may_alias)) = float;

// to(c)[0..3] = map(c, rows[0..3][c]) for 4 values of c.
template <class Map, class To>
TBOOST_INLINE void Transpose4x4(const float* const rows[4], int64_t c, const Map& map,
                                const To& to) {
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
  for (int i = 0; i < 4; ++i) *reinterpret_cast<F32x4*>(to(c + i)) = map(c + i, columns[i]);
}

// Lane l of the first result of a step, of lanes 0..15 of one vector and 16..31 of another: single
// instructions inside quarters of vectors in steps 1 and 2, of whole quarters in 4 and 8. The
// second result is the same, kSecond<kStep> lanes on.
template <int kStep>
constexpr int SourceLane(int l) {
  if constexpr (kStep == 1) return l / 4 * 4 + l % 4 / 2 + l % 2 * 16;
  if constexpr (kStep == 2) return l / 4 * 4 + l % 2 + l % 4 / 2 * 16;
  return l / 4 % 2 * 8 + l % 4 + l / 8 * 16;
}
template <int kStep>
inline constexpr int kSecond = kStep < 4 ? 2 : 4;

template <int kStep, int kOffset, class Vector>
TBOOST_INLINE Vector PickLanes(Vector a, Vector b) {
  constexpr auto lane = [](int l) { return SourceLane<kStep>(l) + kOffset; };
  return __builtin_shufflevector(a, b, lane(0), lane(1), lane(2), lane(3), lane(4), lane(5),
                                 lane(6), lane(7), lane(8), lane(9), lane(10), lane(11), lane(12),
                                 lane(13), lane(14), lane(15));
}

// One of four steps of a transposition in registers, of vectors that are one register each.
template <int kStep, class Vector>
TBOOST_INLINE void Exchange(Vector rows[16]) {
  Unroll<16>([&](auto i) TBOOST_INLINE_LAMBDA {
    if constexpr ((i & kStep) == 0) {
      const Vector a = rows[i], b = rows[i + kStep];
      rows[i] = PickLanes<kStep, 0>(a, b);
      rows[i + kStep] = PickLanes<kStep, kSecond<kStep>>(a, b);
    }
  });
}

// to(c)[r] = map(c, rows[r][c]) for 16 rows and c < columns; map works on vectors of any width.
template <class Map, class To>
TBOOST_INLINE void Transpose16(const float* const rows[16], int64_t columns, const Map& map,
                               const To& to) {
  int64_t c = 0;
  if constexpr (kVectorRegisters >= 32 && kParts == 1) {
    for (; c + 16 <= columns; c += 16) {
      native::VF block[16];
      Unroll<16>([&](auto r) TBOOST_INLINE_LAMBDA { block[r] = native::Load(rows[r] + c); });
      Exchange<1>(block);
      Exchange<2>(block);
      Exchange<4>(block);
      Exchange<8>(block);
      Unroll<16>([&](auto r) TBOOST_INLINE_LAMBDA {
        // Steps 1 and 2 leave the columns of a quarter in the order 0, 2, 1, 3.
        constexpr int kColumn = (r & 12) + r % 2 * 2 + r / 2 % 2;
        native::Store(map(c + kColumn, block[r]), to(c + kColumn));
      });
    }
  }
  for (; c + 4 <= columns; c += 4) {
    for (int r = 0; r < 16; r += 4) {
      Transpose4x4(rows + r, c, map, [&](int64_t i) TBOOST_INLINE_LAMBDA { return to(i) + r; });
    }
  }
  for (; c < columns; ++c) {
    for (int r = 0; r < 16; ++r) to(c)[r] = map(c, rows[r][c]);
  }
}

}  // namespace tboost::kernels::TBOOST_ISA
