// Packing of a block of keys and values into the layout of a cache page. Included by ISA sources
// only.
#pragma once

#include <cstdint>

#include "src/kernels/simd/simd.h"

namespace tboost::kernels::TBOOST_ISA {

using F32x4 __attribute__((vector_size(16), aligned(4), may_alias)) = float;

// out[d][0..3] (rows 16 apart) = rows[0..3][d] for 4 values of d.
TBOOST_INLINE void Transpose4x4(const float* const rows[4], float* out) {
  F32x4 in[4];
  for (int i = 0; i < 4; ++i) in[i] = *reinterpret_cast<const F32x4*>(rows[i]);
  const F32x4 low01 = __builtin_shufflevector(in[0], in[1], 0, 4, 1, 5);
  const F32x4 low23 = __builtin_shufflevector(in[2], in[3], 0, 4, 1, 5);
  const F32x4 high01 = __builtin_shufflevector(in[0], in[1], 2, 6, 3, 7);
  const F32x4 high23 = __builtin_shufflevector(in[2], in[3], 2, 6, 3, 7);
  *reinterpret_cast<F32x4*>(out + 0) = __builtin_shufflevector(low01, low23, 0, 1, 4, 5);
  *reinterpret_cast<F32x4*>(out + 16) = __builtin_shufflevector(low01, low23, 2, 3, 6, 7);
  *reinterpret_cast<F32x4*>(out + 32) = __builtin_shufflevector(high01, high23, 0, 1, 4, 5);
  *reinterpret_cast<F32x4*>(out + 48) = __builtin_shufflevector(high01, high23, 2, 3, 6, 7);
}

// `keys` rows of head_dim (a multiple of 4), ld apart, as panels [ceil(keys / 16)][head_dim][16];
// lanes of missing keys up to the next multiple of 4 are zero, others are left alone.
TBOOST_INLINE void PackKeys(const float* k, int64_t ld, int keys, int head_dim, const float* zeros,
                            float* panels) {
  for (int key = 0; key < keys; key += 4) {
    const float* rows[4];
    for (int i = 0; i < 4; ++i) rows[i] = key + i < keys ? k + (key + i) * ld : zeros;
    float* out = panels + int64_t{key / 16} * head_dim * 16 + key % 16;
    for (int d = 0; d < head_dim; d += 4) {
      Transpose4x4(rows, out + d * 16);
      for (int i = 0; i < 4; ++i) rows[i] += 4;
    }
  }
}

// `keys` rows of head_dim, ld apart, as rows of padded_dim with zeros behind.
TBOOST_INLINE void PackValues(const float* v, int64_t ld, int keys, int head_dim,
                              int64_t padded_dim, float* out) {
  for (int key = 0; key < keys; ++key) {
    for (int d = 0; d < head_dim; ++d) out[key * padded_dim + d] = v[key * ld + d];
    for (int64_t d = head_dim; d < padded_dim; ++d) out[key * padded_dim + d] = 0;
  }
}

}  // namespace tboost::kernels::TBOOST_ISA
