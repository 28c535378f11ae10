// The shape of AVX-512 in plain C++: 16 lanes, fused multiply-add, the same kernels and the same
// bits. For tests only, on machines without AVX-512. Included by simd.h only.
#pragma once

namespace tboost::kernels::TBOOST_ISA {

inline constexpr int kVectorRegisters = 32;
inline constexpr bool kFusedMultiplyAdd = true;

namespace native {

inline constexpr int kLanes = 16;
template <class T>
struct Array {
  T lane[kLanes];
};
using VF = Array<float>;
using VI = Array<int32_t>;
using VM = Array<bool>;

template <class Result, class Function>
TBOOST_INLINE Result Each(const Function& function) {
  Result result;
  for (int i = 0; i < kLanes; ++i) result.lane[i] = function(i);
  return result;
}
TBOOST_INLINE int32_t Wrap(uint32_t a) { return static_cast<int32_t>(a); }
TBOOST_INLINE uint32_t Bits(int32_t a) { return static_cast<uint32_t>(a); }

TBOOST_INLINE VF Set1(float a) {
  return Each<VF>([=](int) { return a; });
}
TBOOST_INLINE VI SetInt1(int32_t a) {
  return Each<VI>([=](int) { return a; });
}
TBOOST_INLINE VM FirstLanes(int n) {
  return Each<VM>([=](int i) { return i < n; });
}

TBOOST_INLINE VF Load(const float* p) {
  return Each<VF>([=](int i) { return p[i]; });
}
TBOOST_INLINE VI LoadInt(const int32_t* p) {
  return Each<VI>([=](int i) { return p[i]; });
}
TBOOST_INLINE VF LoadPartial(const float* p, int n) {
  return Each<VF>([=](int i) { return i < n ? p[i] : 0.0f; });
}
TBOOST_INLINE void StorePartial(VF a, float* p, int n) {
  for (int i = 0; i < kLanes && i < n; ++i) p[i] = a.lane[i];
}
TBOOST_INLINE void Store(VF a, float* p) { StorePartial(a, p, kLanes); }

TBOOST_INLINE VF Add(VF a, VF b) {
  return Each<VF>([&](int i) { return a.lane[i] + b.lane[i]; });
}
TBOOST_INLINE VF Sub(VF a, VF b) {
  return Each<VF>([&](int i) { return a.lane[i] - b.lane[i]; });
}
TBOOST_INLINE VF Mul(VF a, VF b) {
  return Each<VF>([&](int i) { return a.lane[i] * b.lane[i]; });
}
TBOOST_INLINE VF Div(VF a, VF b) {
  return Each<VF>([&](int i) { return a.lane[i] / b.lane[i]; });
}
TBOOST_INLINE VF Fma(VF a, VF b, VF c) {
  return Each<VF>([&](int i) { return __builtin_fmaf(a.lane[i], b.lane[i], c.lane[i]); });
}
TBOOST_INLINE VF Max(VF a, VF b) {
  return Each<VF>([&](int i) { return a.lane[i] > b.lane[i] ? a.lane[i] : b.lane[i]; });
}
TBOOST_INLINE VF Min(VF a, VF b) {
  return Each<VF>([&](int i) { return a.lane[i] < b.lane[i] ? a.lane[i] : b.lane[i]; });
}
TBOOST_INLINE VF Sqrt(VF a) {
  return Each<VF>([&](int i) { return __builtin_sqrtf(a.lane[i]); });
}
TBOOST_INLINE VF Floor(VF a) {
  return Each<VF>([&](int i) { return __builtin_floorf(a.lane[i]); });
}
TBOOST_INLINE VF Round(VF a) {
  return Each<VF>([&](int i) { return __builtin_rintf(a.lane[i]); });
}

TBOOST_INLINE VI ToInt(VF a) {
  return Each<VI>([&](int i) {  // what does not fit becomes INT32_MIN, as the instruction does
    const float x = __builtin_rintf(a.lane[i]);
    return x >= -0x1p31f && x < 0x1p31f ? static_cast<int32_t>(x) : INT32_MIN;
  });
}
TBOOST_INLINE VF ToFloat(VI a) {
  return Each<VF>([&](int i) { return static_cast<float>(a.lane[i]); });
}
TBOOST_INLINE VI AsInt(VF a) {
  VI result;
  __builtin_memcpy(&result, &a, sizeof result);
  return result;
}
TBOOST_INLINE VF AsFloat(VI a) {
  VF result;
  __builtin_memcpy(&result, &a, sizeof result);
  return result;
}
TBOOST_INLINE VI Add(VI a, VI b) {
  return Each<VI>([&](int i) { return Wrap(Bits(a.lane[i]) + Bits(b.lane[i])); });
}
TBOOST_INLINE VI Sub(VI a, VI b) {
  return Each<VI>([&](int i) { return Wrap(Bits(a.lane[i]) - Bits(b.lane[i])); });
}
TBOOST_INLINE VI And(VI a, VI b) {
  return Each<VI>([&](int i) { return a.lane[i] & b.lane[i]; });
}
TBOOST_INLINE VI Or(VI a, VI b) {
  return Each<VI>([&](int i) { return a.lane[i] | b.lane[i]; });
}
template <int kBits>
TBOOST_INLINE VI ShiftLeft(VI a) {
  return Each<VI>([&](int i) { return Wrap(Bits(a.lane[i]) << kBits); });
}
template <int kBits>
TBOOST_INLINE VI ShiftRight(VI a) {
  return Each<VI>([&](int i) { return Wrap(Bits(a.lane[i]) >> kBits); });
}

TBOOST_INLINE VM Less(VF a, VF b) {
  return Each<VM>([&](int i) { return a.lane[i] < b.lane[i]; });
}
TBOOST_INLINE VM LessEqual(VF a, VF b) {
  return Each<VM>([&](int i) { return a.lane[i] <= b.lane[i]; });
}
TBOOST_INLINE VM Equal(VF a, VF b) {
  return Each<VM>([&](int i) { return a.lane[i] == b.lane[i]; });
}
TBOOST_INLINE VM MaskAnd(VM a, VM b) {
  return Each<VM>([&](int i) { return a.lane[i] && b.lane[i]; });
}
TBOOST_INLINE VF Select(VM m, VF a, VF b) {
  return Each<VF>([&](int i) { return m.lane[i] ? a.lane[i] : b.lane[i]; });
}

TBOOST_INLINE VI LoadU16(const uint16_t* p) {
  return Each<VI>([=](int i) { return p[i]; });
}
TBOOST_INLINE VI LoadU8(const uint8_t* p) {
  return Each<VI>([=](int i) { return p[i]; });
}
TBOOST_INLINE VI LoadI8(const int8_t* p) {
  return Each<VI>([=](int i) { return p[i]; });
}
template <int kBias>
TBOOST_INLINE VF LowNibble(VI a) {
  return Each<VF>([&](int i) { return static_cast<float>((a.lane[i] & 15) - kBias); });
}

template <class Op>
TBOOST_INLINE float Fold(VF a, const Op& op) {
  for (int width = kLanes / 2; width > 0; width /= 2)
    for (int i = 0; i < width; ++i) a.lane[i] = op(a.lane[i], a.lane[i + width]);
  return a.lane[0];
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
