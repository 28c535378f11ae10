// The softmax of one block of keys and its merge with the blocks before, for 16 rows at a time.
// Included by ISA sources only.
#pragma once

#include "src/kernels/simd/math-inl.h"
#include "src/tensor/sequence_layout.h"

namespace tboost::kernels::TBOOST_ISA {

inline constexpr float kMinusInfinity = -__builtin_inff();

// What 16 rows have seen so far (each [16]) and how the block at hand joins it: results so far
// times old_factor plus the block's times new_factor.
struct SoftmaxState {
  float *max, *sum, *old_factor, *new_factor;
};

// 0 where a maximum is minus infinity: nothing was seen, and every weight relative to it is 0.
TBOOST_INLINE F32x16 FiniteMax(F32x16 max) {
  return Select(Equal(max, Set1(kMinusInfinity)), Zero(), max);
}

TBOOST_INLINE void MergeBlock(const SoftmaxState& state, F32x16 block_max, F32x16 block_sum) {
  const F32x16 old_max = Load(state.max), new_max = Max(old_max, block_max);
  const F32x16 shift = FiniteMax(new_max);
  const F32x16 old_factor = Exp2(old_max - shift), new_factor = Exp2(block_max - shift);
  Store(new_max, state.max);
  Store(Fma(block_sum, new_factor, Load(state.sum) * old_factor), state.sum);
  Store(old_factor, state.old_factor);
  Store(new_factor, state.new_factor);
}

// Sums of a block's weights are taken in one order: t[j] = (e[j] + e[j + 16]) + (e[j + 32] + e[j +
// 48]), then as ReduceAdd adds lanes. Weights of keys that are not seen are 0.

// Rows in lanes: weights of the keys [first, last), scores[key * ld + lane], in place.
template <bool kWhole>
TBOOST_INLINE F32x16 LaneWeights(float* scores, int64_t ld, int first, int last, F32x16 shift) {
  F32x16 sums[16];
  for (int j = 0; j < 16; ++j) {
    F32x16 e[4];
    for (int i = 0; i < 4; ++i) {
      const int key = i * 16 + j;
      if (kWhole || (first <= key && key < last)) {
        e[i] = Exp2(Load(scores + key * ld) - shift);
        Store(e[i], scores + key * ld);
      } else {
        e[i] = Zero();
      }
    }
    sums[j] = (e[0] + e[1]) + (e[2] + e[3]);
  }
  for (int width = 8; width > 0; width /= 2) {
    for (int j = 0; j < width; ++j) sums[j] = sums[j] + sums[j + width];
  }
  return sums[0];
}

TBOOST_INLINE void SoftmaxLanes(const SoftmaxState& state, float* scores, int64_t ld, int first,
                                int last) {
  F32x16 even = Set1(kMinusInfinity), odd = even;  // two chains
  int key = first;
  for (; key + 2 <= last; key += 2) {
    even = Max(even, Load(scores + key * ld));
    odd = Max(odd, Load(scores + (key + 1) * ld));
  }
  if (key < last) even = Max(even, Load(scores + key * ld));
  const F32x16 block_max = Max(even, odd), shift = FiniteMax(block_max);
  const F32x16 sum = first == 0 && last == kPageTokens
                         ? LaneWeights<true>(scores, ld, first, last, shift)
                         : LaneWeights<false>(scores, ld, first, last, shift);
  MergeBlock(state, block_max, sum);
}

// Keys in lanes: one row, whose state stands in all lanes; weights of the keys [first, last),
// scores[key], in place.
TBOOST_INLINE void SoftmaxRow(const SoftmaxState& state, float* scores, int first, int last) {
  F32x16 s[4];
  for (int i = 0; i < 4; ++i) {
    s[i] = Select(FirstLanes(last - i * 16), Load(scores + i * 16), Set1(kMinusInfinity));
    s[i] = Select(FirstLanes(first - i * 16), Set1(kMinusInfinity), s[i]);
  }
  const F32x16 block_max = Set1(ReduceMax(Max(Max(s[0], s[1]), Max(s[2], s[3]))));
  const F32x16 shift = FiniteMax(block_max);
  for (int i = 0; i < 4; ++i) {
    s[i] = Exp2(s[i] - shift);
    Store(s[i], scores + i * 16);
  }
  MergeBlock(state, block_max, Set1(ReduceAdd((s[0] + s[1]) + (s[2] + s[3]))));
}

}  // namespace tboost::kernels::TBOOST_ISA
