// The shape of AVX-512 in plain C++: 16 lanes, fused multiply-add, the same kernels and the same
// bits. For tests only, on machines without AVX-512. Included by simd.h only.
#pragma once

namespace tboost::kernels::TBOOST_ISA {

inline constexpr int kVectorRegisters = 6;  // fewer than AVX-512 has: smaller kernels, equal bits
inline constexpr bool kFusedMultiplyAdd = true;
inline constexpr bool kExactDot8 = true;

namespace native {

inline constexpr int kLanes = 16;
using VF [[gnu::vector_size(64)]] = float;
using VI [[gnu::vector_size(64)]] = int32_t;
using VU [[gnu::vector_size(64)]] = uint32_t;
using VM = VI;  // -1: true

// Where there is no operator for vectors, lane by lane; out of line, or the kernels grow huge.
template <class Result, class Function>
[[gnu::noinline]] Result Each(const Function& function) {
  Result result;
  for (int i = 0; i < kLanes; ++i) result[i] = function(i);
  return result;
}

TBOOST_INLINE VF Set1(float a) { return VF{} + a; }
TBOOST_INLINE VI SetInt1(int32_t a) { return VI{} + a; }
TBOOST_INLINE VM FirstLanes(int n) {
  const VI lanes = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  return lanes < SetInt1(n);
}

template <class Vector, class T>
TBOOST_INLINE Vector LoadVector(const T* p) {
  Vector result;
  __builtin_memcpy(&result, p, sizeof result);
  return result;
}
TBOOST_INLINE VF Load(const float* p) { return LoadVector<VF>(p); }
TBOOST_INLINE VI LoadInt(const int32_t* p) { return LoadVector<VI>(p); }
TBOOST_INLINE void Store(VF a, float* p) { __builtin_memcpy(p, &a, sizeof a); }
TBOOST_INLINE VF LoadPartial(const float* p, int n) {
  return Each<VF>([=](int i) { return i < n ? p[i] : 0.0f; });
}
[[gnu::noinline]] inline void StorePartial(VF a, float* p, int n) {
  for (int i = 0; i < kLanes && i < n; ++i) p[i] = a[i];
}

TBOOST_INLINE VF Add(VF a, VF b) { return a + b; }
TBOOST_INLINE VF Sub(VF a, VF b) { return a - b; }
TBOOST_INLINE VF Mul(VF a, VF b) { return a * b; }
TBOOST_INLINE VF Div(VF a, VF b) { return a / b; }
TBOOST_INLINE VF Fma(VF a, VF b, VF c) {
  return Each<VF>([&](int i) { return __builtin_fmaf(a[i], b[i], c[i]); });
}
TBOOST_INLINE VF Sqrt(VF a) {
  return Each<VF>([&](int i) { return __builtin_sqrtf(a[i]); });
}
TBOOST_INLINE VF Floor(VF a) {
  return Each<VF>([&](int i) { return __builtin_floorf(a[i]); });
}
TBOOST_INLINE VF Round(VF a) {
  return Each<VF>([&](int i) { return __builtin_rintf(a[i]); });
}

TBOOST_INLINE VI ToInt(VF a) {
  return Each<VI>([&](int i) {  // what does not fit becomes INT32_MIN, as the instruction does
    const float x = __builtin_rintf(a[i]);
    return x >= -0x1p31f && x < 0x1p31f ? static_cast<int32_t>(x) : INT32_MIN;
  });
}
TBOOST_INLINE VF ToFloat(VI a) { return __builtin_convertvector(a, VF); }
TBOOST_INLINE VI AsInt(VF a) { return reinterpret_cast<VI>(a); }
TBOOST_INLINE VF AsFloat(VI a) { return reinterpret_cast<VF>(a); }
TBOOST_INLINE VI Signed(VU a) { return reinterpret_cast<VI>(a); }
TBOOST_INLINE VU Unsigned(VI a) { return reinterpret_cast<VU>(a); }
TBOOST_INLINE VI Add(VI a, VI b) { return Signed(Unsigned(a) + Unsigned(b)); }
TBOOST_INLINE VI Sub(VI a, VI b) { return Signed(Unsigned(a) - Unsigned(b)); }
TBOOST_INLINE VI And(VI a, VI b) { return a & b; }
TBOOST_INLINE VI Or(VI a, VI b) { return a | b; }
template <int kBits>
TBOOST_INLINE VI ShiftLeft(VI a) {
  return Signed(Unsigned(a) << kBits);
}
TBOOST_INLINE VI ShiftRightBy(VI a, int bits) { return Signed(Unsigned(a) >> bits); }
template <int kBits>
TBOOST_INLINE VI ShiftRight(VI a) {
  return ShiftRightBy(a, kBits);
}
template <int kBits>
TBOOST_INLINE VI ShiftRightSigned(VI a) {
  return a >> kBits;
}

TBOOST_INLINE VM Less(VF a, VF b) { return a < b; }
TBOOST_INLINE VM LessEqual(VF a, VF b) { return a <= b; }
TBOOST_INLINE VM Equal(VF a, VF b) { return a == b; }
TBOOST_INLINE VM MaskAnd(VM a, VM b) { return a & b; }
TBOOST_INLINE VF Select(VM m, VF a, VF b) { return AsFloat((m & AsInt(a)) | (~m & AsInt(b))); }
TBOOST_INLINE VF Max(VF a, VF b) { return Select(Less(b, a), a, b); }
TBOOST_INLINE VF Min(VF a, VF b) { return Select(Less(a, b), a, b); }

TBOOST_INLINE VI LoadU16(const uint16_t* p) {
  return Each<VI>([=](int i) { return p[i]; });
}
TBOOST_INLINE VI LoadU8(const uint8_t* p) {
  return Each<VI>([=](int i) { return p[i]; });
}
TBOOST_INLINE VI LoadI8(const int8_t* p) {
  return Each<VI>([=](int i) { return p[i]; });
}
TBOOST_INLINE void StoreI8(VI a, int8_t* p) {
  for (int i = 0; i < kLanes; ++i) p[i] = static_cast<int8_t>(a[i]);
}
TBOOST_INLINE VI AddDot8(VI sum, VI a, VI b) {
  return Add(sum, Each<VI>([&](int i) {
               int32_t products = 0;
               for (int bit = 0; bit < 32; bit += 8)
                 products += (a[i] >> bit & 255) * static_cast<int8_t>(b[i] >> bit & 255);
               return products;
             }));
}
TBOOST_INLINE VI AddDot16(VI sum, VI a, VI b) {
  return Add(sum, Each<VI>([&](int i) {
               return static_cast<int16_t>(a[i] & 0xffff) * static_cast<int16_t>(b[i] & 0xffff) +
                      (a[i] >> 16) * (b[i] >> 16);
             }));
}
TBOOST_INLINE VF LowNibble(VI a) { return ToFloat(a & 15); }

template <class Op>
TBOOST_INLINE float Fold(VF a, const Op& op) {
  for (int width = kLanes / 2; width > 0; width /= 2)
    for (int i = 0; i < width; ++i) a[i] = op(a[i], a[i + width]);
  return a[0];
}
TBOOST_INLINE float ReduceAdd(VF a) {
  return Fold(a, [](float x, float y) { return x + y; });
}
TBOOST_INLINE float ReduceMax(VF a) {
  return Fold(a, [](float x, float y) { return x > y ? x : y; });
}

}  // namespace native
}  // namespace tboost::kernels::TBOOST_ISA

#include "src/kernels/simd/f16_bits-inl.h"
