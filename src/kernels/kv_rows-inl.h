// Rows of keys and values on their way into a cache page and out of it, in every format. Included
// by ISA sources only.
#pragma once

#include <cstdint>

#include "src/kernels/simd/span-inl.h"
#include "src/tensor/sequence_layout.h"

namespace tboost::kernels::TBOOST_ISA {

// The 32-bit lanes of x, narrowed: the first n of them.
template <class T>
TBOOST_INLINE void StoreNarrow(I32x16 x, T* to, int n) {
  float bits[16];
  int32_t lanes[16];
  Store(AsFloat(x), bits);
  __builtin_memcpy(lanes, bits, sizeof lanes);
  for (int i = 0; i < n; ++i) to[i] = static_cast<T>(lanes[i]);
}

// Rounded to nearest, ties to even; NaN stays NaN.
TBOOST_INLINE I32x16 BF16Bits(F32x16 x) {
  const I32x16 bits = AsInt(x);
  const I32x16 rounded = bits + SetInt1(0x7fff) + (ShiftRight<16>(bits) & SetInt1(1));
  return ShiftRight<16>(AsInt(Select(Equal(x, x), AsFloat(rounded), Set1(__builtin_nanf("")))));
}

// The scale is that of the row's largest magnitude; a row that is not finite gets scale NaN.
TBOOST_INLINE void StoreI8Row(const float* x, int head_dim, int8_t* codes, float* scale) {
  F32x16 largest = Zero(), nothing = Zero();
  ForVectors(head_dim, [&](int64_t i, auto span) TBOOST_INLINE_LAMBDA {
    const F32x16 value = span.LoadFrom(x + i);
    largest = Max(largest, Abs(value));
    nothing = Fma(value, Zero(), nothing);
  });
  const float magnitude = ReduceMax(largest) + ReduceAdd(nothing);
  const F32x16 inverse = Set1(magnitude > 0 ? 127 / magnitude : 0);
  *scale = magnitude / 127;
  ForVectors(head_dim, [&](int64_t i, auto span) TBOOST_INLINE_LAMBDA {
    const F32x16 code = Min(Set1(127), Max(Set1(-127), span.LoadFrom(x + i) * inverse));
    StoreNarrow(ToInt(code), codes + i, head_dim - i < 16 ? static_cast<int>(head_dim - i) : 16);
  });
}

// Stores a row; x may be the row itself in f32.
TBOOST_INLINE void StoreKvRow(const KvRows& rows, int64_t slot, const float* x) {
  switch (rows.dtype) {
    case DType::kBF16: {
      auto* const to = rows.row<uint16_t>(slot);
      ForVectors(rows.head_dim, [&](int64_t i, auto span) TBOOST_INLINE_LAMBDA {
        const int left = static_cast<int>(rows.head_dim - i);
        StoreNarrow(BF16Bits(span.LoadFrom(x + i)), to + i, left < 16 ? left : 16);
      });
      return;
    }
    case DType::kI8:
      return StoreI8Row(x, rows.head_dim, rows.row<int8_t>(slot), rows.scales() + slot);
    default: {
      auto* const to = rows.row<float>(slot);
      if (x == to) return;
      ForVectors(rows.head_dim, [&](int64_t i, auto span) TBOOST_INLINE_LAMBDA {
        span.StoreTo(span.LoadFrom(x + i), to + i);
      });
    }
  }
}

// n elements as f32, widened 16 at a time; zeros behind them up to the next multiple of 16.
template <class T, class Widen>
TBOOST_INLINE void WidenRow(const T* from, int n, float* to, const Widen& widen) {
  int i = 0;
  for (; i + 16 <= n; i += 16) Store(widen(from + i), to + i);
  if (i == n) return;
  T rest[16] = {};
  for (int j = 0; i + j < n; ++j) rest[j] = from[i + j];
  Store(widen(rest), to + i);
}

// A row as f32, with zeros behind it up to the next multiple of 16.
TBOOST_INLINE void LoadKvRow(const KvRows& rows, int64_t slot, float* to) {
  const int n = rows.head_dim;
  if (rows.dtype == DType::kBF16) {
    WidenRow(rows.row<uint16_t>(slot), n, to, [](const uint16_t* p) TBOOST_INLINE_LAMBDA {
      return AsFloat(ShiftLeft<16>(LoadU16(p)));
    });
  } else if (rows.dtype == DType::kI8) {
    const F32x16 scale = Set1(rows.scales()[slot]);
    WidenRow(rows.row<int8_t>(slot), n, to,
             [&](const int8_t* p) TBOOST_INLINE_LAMBDA { return ToFloat(LoadI8(p)) * scale; });
  } else {
    WidenRow(rows.row<float>(slot), n, to,
             [](const float* p) TBOOST_INLINE_LAMBDA { return Load(p); });
  }
}

}  // namespace tboost::kernels::TBOOST_ISA
