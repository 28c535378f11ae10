// x86-64-v2 (SSE4.2): 4 lanes. Included by simd.h only.
#pragma once

#include <smmintrin.h>

namespace tboost::kernels::TBOOST_ISA {

inline constexpr int kVectorRegisters = 16;
inline constexpr bool kFusedMultiplyAdd = false;
inline constexpr bool kExactDot8 = false;

namespace native {

inline constexpr int kLanes = 4;
using VF = __m128;
using VI = __m128i;
using VM = __m128;

TBOOST_INLINE VF Set1(float a) { return _mm_set1_ps(a); }
TBOOST_INLINE VI SetInt1(int32_t a) { return _mm_set1_epi32(a); }
TBOOST_INLINE VF Load(const float* p) { return _mm_loadu_ps(p); }
TBOOST_INLINE VI LoadInt(const int32_t* p) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
}
TBOOST_INLINE void Store(VF a, float* p) { _mm_storeu_ps(p, a); }
TBOOST_INLINE VF LoadPartial(const float* p, int n) {
  if (n >= kLanes) return Load(p);
  float lanes[kLanes] = {};
  for (int i = 0; i < n; ++i) lanes[i] = p[i];
  return Load(lanes);
}
TBOOST_INLINE void StorePartial(VF a, float* p, int n) {
  if (n >= kLanes) return Store(a, p);
  float lanes[kLanes];
  Store(a, lanes);
  for (int i = 0; i < n; ++i) p[i] = lanes[i];
}

TBOOST_INLINE VF Add(VF a, VF b) { return _mm_add_ps(a, b); }
TBOOST_INLINE VF Sub(VF a, VF b) { return _mm_sub_ps(a, b); }
TBOOST_INLINE VF Mul(VF a, VF b) { return _mm_mul_ps(a, b); }
TBOOST_INLINE VF Div(VF a, VF b) { return _mm_div_ps(a, b); }
TBOOST_INLINE VF Fma(VF a, VF b, VF c) { return _mm_add_ps(_mm_mul_ps(a, b), c); }
TBOOST_INLINE VF Max(VF a, VF b) { return _mm_max_ps(a, b); }
TBOOST_INLINE VF Min(VF a, VF b) { return _mm_min_ps(a, b); }
TBOOST_INLINE VF Sqrt(VF a) { return _mm_sqrt_ps(a); }
TBOOST_INLINE VF Floor(VF a) { return _mm_floor_ps(a); }
TBOOST_INLINE VF Round(VF a) {
  return _mm_round_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

TBOOST_INLINE VI ToInt(VF a) { return _mm_cvtps_epi32(a); }
TBOOST_INLINE VF ToFloat(VI a) { return _mm_cvtepi32_ps(a); }
TBOOST_INLINE VI AsInt(VF a) { return _mm_castps_si128(a); }
TBOOST_INLINE VF AsFloat(VI a) { return _mm_castsi128_ps(a); }
TBOOST_INLINE VI Add(VI a, VI b) { return _mm_add_epi32(a, b); }
TBOOST_INLINE VI Sub(VI a, VI b) { return _mm_sub_epi32(a, b); }
TBOOST_INLINE VI And(VI a, VI b) { return _mm_and_si128(a, b); }
TBOOST_INLINE VI Or(VI a, VI b) { return _mm_or_si128(a, b); }
template <int kBits>
TBOOST_INLINE VI ShiftLeft(VI a) {
  return _mm_slli_epi32(a, kBits);
}
template <int kBits>
TBOOST_INLINE VI ShiftRight(VI a) {
  return _mm_srli_epi32(a, kBits);
}
template <int kBits>
TBOOST_INLINE VI ShiftRightSigned(VI a) {
  return _mm_srai_epi32(a, kBits);
}
TBOOST_INLINE VI ShiftRightBy(VI a, int bits) { return _mm_srl_epi32(a, _mm_cvtsi32_si128(bits)); }

TBOOST_INLINE VM Less(VF a, VF b) { return _mm_cmplt_ps(a, b); }
TBOOST_INLINE VM LessEqual(VF a, VF b) { return _mm_cmple_ps(a, b); }
TBOOST_INLINE VM Equal(VF a, VF b) { return _mm_cmpeq_ps(a, b); }
TBOOST_INLINE VM MaskAnd(VM a, VM b) { return _mm_and_ps(a, b); }
TBOOST_INLINE VF Select(VM m, VF a, VF b) { return _mm_blendv_ps(b, a, m); }
TBOOST_INLINE VM FirstLanes(int n) {
  return AsFloat(_mm_cmpgt_epi32(SetInt1(n), _mm_setr_epi32(0, 1, 2, 3)));
}

TBOOST_INLINE VI LoadU16(const uint16_t* p) {
  return _mm_cvtepu16_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)));
}
TBOOST_INLINE VI LoadU8(const uint8_t* p) {
  int32_t bytes;
  __builtin_memcpy(&bytes, p, sizeof bytes);
  return _mm_cvtepu8_epi32(_mm_cvtsi32_si128(bytes));
}
TBOOST_INLINE VI LoadI8(const int8_t* p) {
  int32_t bytes;
  __builtin_memcpy(&bytes, p, sizeof bytes);
  return _mm_cvtepi8_epi32(_mm_cvtsi32_si128(bytes));
}
TBOOST_INLINE void StoreI8(VI a, int8_t* p) {
  const VI low = _mm_setr_epi8(0, 4, 8, 12, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1);
  const int32_t bytes = _mm_cvtsi128_si32(_mm_shuffle_epi8(a, low));
  __builtin_memcpy(p, &bytes, sizeof bytes);
}
TBOOST_INLINE VI AddDot8(VI sum, VI a, VI b) {
  return _mm_add_epi32(sum, _mm_madd_epi16(_mm_maddubs_epi16(a, b), _mm_set1_epi16(1)));
}
TBOOST_INLINE VI AddDot16(VI sum, VI a, VI b) { return _mm_add_epi32(sum, _mm_madd_epi16(a, b)); }
TBOOST_INLINE VF LowNibble(VI a) { return ToFloat(And(a, SetInt1(15))); }

TBOOST_INLINE float ReduceAdd(VF a) {
  a = Add(a, _mm_movehl_ps(a, a));
  return _mm_cvtss_f32(Add(a, _mm_shuffle_ps(a, a, 1)));
}
TBOOST_INLINE float ReduceMax(VF a) {
  a = Max(a, _mm_movehl_ps(a, a));
  return _mm_cvtss_f32(Max(a, _mm_shuffle_ps(a, a, 1)));
}

}  // namespace native
}  // namespace tboost::kernels::TBOOST_ISA

#include "src/kernels/simd/f16_bits-inl.h"
