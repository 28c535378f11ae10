// Rows of activations as codes of 8 bits. Included by ISA sources only.
#pragma once

#include "src/kernels/gemm_int8/dot-inl.h"
#include "src/kernels/norm/norm-inl.h"

namespace tboost::kernels::TBOOST_ISA {

// What belongs to a row of codes.
struct CodeRow {
  float scale;       // NaN where the row is not finite
  int32_t zero;      // the code of 0
  uint32_t sum = 0;  // of the codes, modulo 2^32
};

// How far a row reaches below and above 0; NaN where an element is not finite.
struct Extent {
  float below, above;
};

// Of value(i, span) over a row.
template <class Value>
TBOOST_INLINE Extent ExtentOf(int64_t k, const Value& value) {
  F32x16 below = Zero(), above = Zero(), nan = Zero();
  ForVectors(k, [&](int64_t i, auto span) TBOOST_INLINE_LAMBDA {
    const F32x16 x = value(i, span);
    below = Max(Zero() - x, below);
    above = Max(x, above);
    nan = nan + x * Zero();
  });
  return {ReduceMax(below) + ReduceAdd(nan), ReduceMax(above)};
}

// The row itself, or its norm in `buffer`, and the extent of either.
inline const float* ReadRow(const GemmArgs& args, int64_t row, float* buffer, Extent& extent) {
  const float* x = args.a + row * args.lda;
  const Norm& norm = args.norm;
  if (norm.kind == NormKind::kNone) {
    extent = ExtentOf(
        args.k, [&](int64_t i, auto span) TBOOST_INLINE_LAMBDA { return span.LoadFrom(x + i); });
    return x;
  }
  const Normalizer normalize(Statistics(norm.kind, norm.eps, x, args.k), norm.gamma, norm.beta);
  extent = ExtentOf(args.k, [&](int64_t i, auto span) TBOOST_INLINE_LAMBDA {
    const F32x16 value = normalize(x, i, span);
    span.StoreTo(value, buffer + i);
    return value;
  });
  return buffer;
}

TBOOST_INLINE void StoreLanes(I32x16 a, uint32_t* to) {
  float lanes[kVectorLanes];
  Store(AsFloat(a), lanes);
  __builtin_memcpy(to, lanes, sizeof lanes);
}

// Row `r` of a block of `count` rows to codes[k / kCodeChunk][count][kCodeChunk], as Dot wants
// them; 0 behind the last.
template <class Dot>
CodeRow QuantizeRow(const GemmArgs& args, int64_t row, float* buffer, int64_t r, int64_t count,
                    char* codes) {
  constexpr float kSteps = 253, kLeast = 1e-30f;  // one step less than codes: both ends round
  Extent extent;
  const float* x = ReadRow(args, row, buffer, extent);
  const float range = extent.below + extent.above;
  CodeRow out;
  out.scale = range < kLeast ? 0 : range / kSteps;
  const F32x16 inverse = Set1(range < kLeast ? 0 : kSteps / range);
  const I32x16 zero = ToInt(Set1(extent.below) * inverse) - SetInt1(127);
  I32x16 sum = SetInt1(0);
  for (int64_t k = 0; k < args.k; k += kCodeChunk) {
    char* chunk = codes + (k / kCodeChunk * count + r) * (kCodeChunk * Dot::kCodeBytes);
    const auto put = [&](int64_t i, I32x16 code) TBOOST_INLINE_LAMBDA {
      sum = sum + code;
      Dot::StoreCodes(code, chunk + i * Dot::kCodeBytes);
    };
    const int64_t left = args.k - k;
    if (left >= kCodeChunk) {
      Unroll<4>([&](auto i) TBOOST_INLINE_LAMBDA {
        put(i * 16, ToInt(Load(x + k + i * 16) * inverse) + zero);
      });
    } else {
      for (int64_t i = 0; i < kCodeChunk; i += 16) {
        const int n = static_cast<int>(left - i < 0 ? 0 : left - i < 16 ? left - i : 16);
        const I32x16 code = ToInt(LoadPartial(x + k + i, n) * inverse) + zero;
        put(i, AsInt(Select(FirstLanes(n), AsFloat(code), Zero())));
      }
    }
  }
  uint32_t lanes[kVectorLanes];
  StoreLanes(zero, lanes);
  out.zero = static_cast<int32_t>(lanes[0]);
  StoreLanes(sum, lanes);
  for (const uint32_t lane : lanes) out.sum += lane;
  return out;
}

}  // namespace tboost::kernels::TBOOST_ISA
