// The softmax of one block of keys and its merge with the blocks before, for 16 rows at a time.
// Included by ISA sources only.
#pragma once

#include "src/kernels/attention/attention_tasks.h"
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

// The largest of the scores of each lane, in chains that do not wait for each other.
TBOOST_INLINE F32x16 LaneMax(const float* scores, int64_t ld, int first, int last) {
  constexpr int kChains = 8;
  F32x16 max[kChains];
  for (int i = 0; i < kChains; ++i) max[i] = Set1(kMinusInfinity);
  int key = first;
  for (; key + kChains <= last; key += kChains) {
    for (int i = 0; i < kChains; ++i) max[i] = Max(max[i], Load(scores + (key + i) * ld));
  }
  for (; key < last; ++key) max[0] = Max(max[0], Load(scores + key * ld));
  for (int width = kChains / 2; width > 0; width /= 2) {
    for (int i = 0; i < width; ++i) max[i] = Max(max[i], max[i + width]);
  }
  return max[0];
}

// `vectors` of rows side by side, each step for all of them, so that their chains overlap. `fresh`:
// rows have seen nothing before; there are no factors then, as those would be 0 and 1.
TBOOST_INLINE void SoftmaxLanes(const SoftmaxState& state, float* scores, int64_t ld,
                                int64_t vectors, int first, int last, bool fresh) {
  F32x16 max[kStripRows / 16], sum[kStripRows / 16];
  for (int64_t v = 0; v < vectors; ++v) max[v] = LaneMax(scores + v * 16, ld, first, last);
  for (int64_t v = 0; v < vectors; ++v) {
    const F32x16 shift = FiniteMax(max[v]);
    sum[v] = first == 0 && last == kPageTokens
                 ? LaneWeights<true>(scores + v * 16, ld, first, last, shift)
                 : LaneWeights<false>(scores + v * 16, ld, first, last, shift);
  }
  for (int64_t v = 0; v < vectors; ++v) {
    const SoftmaxState own = {state.max + v * 16, state.sum + v * 16, state.old_factor + v * 16,
                              state.new_factor + v * 16};
    if (fresh) {
      Store(max[v], own.max);
      Store(sum[v], own.sum);
    } else {
      MergeBlock(own, max[v], sum[v]);
    }
  }
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
