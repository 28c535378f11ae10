// What packed rows, and panels that need no decoding, consist of: words of 4 bytes, one k or a pair
// of them. Included by ISA sources only.
#pragma once

#include "src/kernels/simd/simd.h"

namespace tboost::kernels::TBOOST_ISA {

struct F32Words {
  static constexpr int64_t kElements = 1;  // k of a word
  // 16 words from value(0), or from value(0) and value(16): the elements from there on.
  template <class Value>
  TBOOST_INLINE static F32x16 Make(const Value& value) {
    return value(0);
  }
  TBOOST_INLINE static F32x16 AddProducts(F32x16 row, F32x16 weights, F32x16 sum) {
    return Fma(row, weights, sum);
  }
};

#ifdef TBOOST_ISA_avx512_bf16
struct BF16Words {
  static constexpr int64_t kElements = 2;
  template <class Value>
  TBOOST_INLINE static F32x16 Make(const Value& value) {
    return ToBF16Pairs(value(0), value(kVectorLanes));
  }
  TBOOST_INLINE static F32x16 AddProducts(F32x16 row, F32x16 weights, F32x16 sum) {
    return AddBF16Products(row, weights, sum);
  }
};
#endif

}  // namespace tboost::kernels::TBOOST_ISA
