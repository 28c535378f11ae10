// Rows of activations as codes of 8 bits. Included by ISA sources only.
#pragma once

#include "src/kernels/gemm_int8/dot-inl.h"
#include "src/kernels/norm/norm-inl.h"

namespace tboost::kernels::TBOOST_ISA {

// What belongs to a row of codes.
struct CodeRow {
  float scale;       // NaN where the row is not finite
  uint32_t sum = 0;  // of the codes, modulo 2^32
};

// The largest magnitude of value(i, span) over a row; NaN where one of them is not finite.
template <class Value>
TBOOST_INLINE float LargestOf(int64_t k, const Value& value) {
  F32x16 magnitudes[2] = {Zero(), Zero()}, nan = Zero();
  const auto take = [&](auto j, F32x16 x) TBOOST_INLINE_LAMBDA {
    magnitudes[j] = Max(Abs(x), magnitudes[j]);
    nan = nan + x * Zero();
  };
  int64_t i = 0;
  for (; i + 32 <= k; i += 32)
    Unroll<2>([&](auto j) TBOOST_INLINE_LAMBDA { take(j, value(i + j * 16, WholeSpan{})); });
  ForVectors(k - i, [&](int64_t at, auto span)
                        TBOOST_INLINE_LAMBDA { take(Constant<0>{}, value(i + at, span)); });
  return ReduceMax(Max(magnitudes[0], magnitudes[1])) + ReduceAdd(nan);
}

// The row itself, or its norm in `buffer`, and the largest magnitude of either.
inline const float* ReadRow(const GemmArgs& args, int64_t row, float* buffer, float& largest) {
  const float* x = args.a + row * args.lda;
  const Norm& norm = args.norm;
  if (norm.kind == NormKind::kNone) {
    largest = LargestOf(
        args.k, [&](int64_t i, auto span) TBOOST_INLINE_LAMBDA { return span.LoadFrom(x + i); });
    return x;
  }
  const Normalizer normalize(Statistics(norm.kind, norm.eps, x, args.k), norm.gamma, norm.beta);
  largest = LargestOf(args.k, [&](int64_t i, auto span) TBOOST_INLINE_LAMBDA {
    const F32x16 value = normalize(x, i, span);
    span.StoreTo(value, buffer + i);
    return value;
  });
  return buffer;
}

// Row `r` of a block of `count` rows to codes[k / kCodeChunk][count][kCodeChunk], as Dot wants
// them.
template <class Dot>
CodeRow QuantizeRow(const GemmArgs& args, int64_t row, float* buffer, int64_t r, int64_t count,
                    char* codes) {
  constexpr float kLargestCode = 127, kLeast = 1e-30f;
  float largest;
  const float* x = ReadRow(args, row, buffer, largest);
  CodeRow out;
  out.scale = largest < kLeast ? 0 : largest / kLargestCode;
  const F32x16 inverse = Set1(largest < kLeast ? 0 : kLargestCode / largest);
  I32x16 sum = SetInt1(0);
  for (int64_t k = 0; k < args.k; k += kCodeChunk) {
    char* chunk = codes + (k / kCodeChunk * count + r) * (kCodeChunk * Dot::kCodeBytes);
    const auto put = [&](int64_t i, F32x16 value) TBOOST_INLINE_LAMBDA {
      const I32x16 code = ToInt(value * inverse);
      sum = sum + code;
      Dot::StoreCodes(code, chunk + i * Dot::kCodeBytes);
    };
    const int64_t left = args.k - k;
    if (left >= kCodeChunk) {
      Unroll<4>([&](auto i) TBOOST_INLINE_LAMBDA { put(i * 16, Load(x + k + i * 16)); });
    } else {
      for (int64_t i = 0; i < kCodeChunk; i += 16) {
        const int64_t n = left - i < 0 ? 0 : left - i < 16 ? left - i : 16;
        put(i, LoadPartial(x + k + i, static_cast<int>(n)));
      }
    }
  }
  float lanes[kVectorLanes];
  Store(AsFloat(sum), lanes);
  for (const float lane : lanes) {
    uint32_t bits;
    __builtin_memcpy(&bits, &lane, sizeof bits);
    out.sum += bits;
  }
  return out;
}

}  // namespace tboost::kernels::TBOOST_ISA
