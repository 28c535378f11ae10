// The two ways to multiply codes: bytes of weights and rows at once, or widened to 16 bits where
// the instruction set's sum of two byte products could overflow. Both are exact. Included by ISA
// sources only.
//
// A way is a type with
//   kCodeBytes                     bytes of a row's code
//   kSumRegisters                  registers that may hold sums; the others hold weights and codes
//   StoreCodes(codes, to)          16 codes of a row as this way reads them
//   Weights, Load(word row)        4 k of a panel
//   AddProducts(sum, weights, at)  with the row's 4 codes that start at `at`
#pragma once

#include "src/kernels/gemm_int8/gemm_int8_sizes.h"
#include "src/kernels/simd/simd.h"

namespace tboost::kernels::TBOOST_ISA {

TBOOST_INLINE I32x16 BroadcastWord(const char* at) {
  int32_t word;
  __builtin_memcpy(&word, at, sizeof word);
  return SetInt1(word);
}
TBOOST_INLINE I32x16 LoadWords(const char* words) {
  return LoadInt(reinterpret_cast<const int32_t*>(words));
}

// a * b, modulo 2^32.
TBOOST_INLINE I32x16 MultiplyInt(I32x16 a, I32x16 b) {
  using Lanes [[gnu::vector_size(sizeof(native::VI))]] = uint32_t;
  return Lift<I32x16>(
      [](auto x, auto y) TBOOST_INLINE_LAMBDA {
        return reinterpret_cast<native::VI>(reinterpret_cast<Lanes>(x) *
                                            reinterpret_cast<Lanes>(y));
      },
      a, b);
}

// Weights are unsigned bytes, codes signed ones.
struct ByteDot {
  static constexpr int64_t kCodeBytes = 1;
  static constexpr int kSumRegisters = kVectorRegisters - 4;
  using Weights = I32x16;
  TBOOST_INLINE static void StoreCodes(I32x16 codes, char* to) {
    StoreI8(codes, reinterpret_cast<int8_t*>(to));
  }
  TBOOST_INLINE static Weights Load(const char* words) { return LoadWords(words); }
  TBOOST_INLINE static I32x16 AddProducts(I32x16 sum, Weights weights, const char* at) {
    return AddDot8(sum, weights, BroadcastWord(at));
  }
};

// Codes 0 and 2 of every four, then 1 and 3, as pairs of 16 bits.
struct WideDot {
  static constexpr int64_t kCodeBytes = 2;
  static constexpr int kSumRegisters = kVectorRegisters - 6;
  struct Weights {
    I32x16 even, odd;
  };
  static void StoreCodes(I32x16 codes, char* to) {
    int8_t bytes[kVectorLanes];
    StoreI8(codes, bytes);
    for (int i = 0; i < kVectorLanes; i += 4) {
      const int16_t words[4] = {bytes[i], bytes[i + 2], bytes[i + 1], bytes[i + 3]};
      __builtin_memcpy(to + 2 * i, words, sizeof words);
    }
  }
  TBOOST_INLINE static Weights Load(const char* words) {
    const I32x16 bytes = LoadWords(words), low = SetInt1(0x00ff00ff);
    return {bytes & low, ShiftRight<8>(bytes) & low};
  }
  TBOOST_INLINE static I32x16 AddProducts(I32x16 sum, Weights weights, const char* at) {
    sum = AddDot16(sum, weights.even, BroadcastWord(at));
    return AddDot16(sum, weights.odd, BroadcastWord(at + 4));
  }
};

}  // namespace tboost::kernels::TBOOST_ISA
