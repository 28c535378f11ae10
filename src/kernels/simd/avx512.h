// x86-64-v4 (AVX-512 F, BW, DQ, VL): 16 lanes. Included by simd.h only.
#pragma once

#include <immintrin.h>

namespace tboost::kernels::TBOOST_ISA {

inline constexpr int kVectorRegisters = 32;
inline constexpr bool kFusedMultiplyAdd = true;
#if defined(TBOOST_ISA_avx512_vnni)
inline constexpr bool kExactDot8 = true;
#else
inline constexpr bool kExactDot8 = false;
#endif

namespace native {

inline constexpr int kLanes = 16;
using VF = __m512;
using VI = __m512i;
using VM = __mmask16;

TBOOST_INLINE VF Set1(float a) { return _mm512_set1_ps(a); }
TBOOST_INLINE VI SetInt1(int32_t a) { return _mm512_set1_epi32(a); }
TBOOST_INLINE VM FirstLanes(int n) {
  const int lanes = n < 0 ? 0 : n > kLanes ? kLanes : n;
  return static_cast<VM>((1u << lanes) - 1);
}

TBOOST_INLINE VF Load(const float* p) { return _mm512_loadu_ps(p); }
TBOOST_INLINE VI LoadInt(const int32_t* p) { return _mm512_loadu_si512(p); }
TBOOST_INLINE void Store(VF a, float* p) { _mm512_storeu_ps(p, a); }
TBOOST_INLINE VF LoadPartial(const float* p, int n) {
  return _mm512_maskz_loadu_ps(FirstLanes(n), p);
}
TBOOST_INLINE void StorePartial(VF a, float* p, int n) {
  _mm512_mask_storeu_ps(p, FirstLanes(n), a);
}

TBOOST_INLINE VF Add(VF a, VF b) { return _mm512_add_ps(a, b); }
TBOOST_INLINE VF Sub(VF a, VF b) { return _mm512_sub_ps(a, b); }
TBOOST_INLINE VF Mul(VF a, VF b) { return _mm512_mul_ps(a, b); }
TBOOST_INLINE VF Div(VF a, VF b) { return _mm512_div_ps(a, b); }
TBOOST_INLINE VF Fma(VF a, VF b, VF c) { return _mm512_fmadd_ps(a, b, c); }
TBOOST_INLINE VF Max(VF a, VF b) { return _mm512_max_ps(a, b); }
TBOOST_INLINE VF Min(VF a, VF b) { return _mm512_min_ps(a, b); }
TBOOST_INLINE VF Sqrt(VF a) { return _mm512_sqrt_ps(a); }
TBOOST_INLINE VF Floor(VF a) {
  return _mm512_roundscale_ps(a, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
}
TBOOST_INLINE VF Round(VF a) {
  return _mm512_roundscale_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

TBOOST_INLINE VI ToInt(VF a) { return _mm512_cvtps_epi32(a); }
TBOOST_INLINE VF ToFloat(VI a) { return _mm512_cvtepi32_ps(a); }
TBOOST_INLINE VI AsInt(VF a) { return _mm512_castps_si512(a); }
TBOOST_INLINE VF AsFloat(VI a) { return _mm512_castsi512_ps(a); }
TBOOST_INLINE VI Add(VI a, VI b) { return _mm512_add_epi32(a, b); }
TBOOST_INLINE VI Sub(VI a, VI b) { return _mm512_sub_epi32(a, b); }
TBOOST_INLINE VI And(VI a, VI b) { return _mm512_and_si512(a, b); }
TBOOST_INLINE VI Or(VI a, VI b) { return _mm512_or_si512(a, b); }
template <int kBits>
TBOOST_INLINE VI ShiftLeft(VI a) {
  return _mm512_slli_epi32(a, kBits);
}
template <int kBits>
TBOOST_INLINE VI ShiftRight(VI a) {
  return _mm512_srli_epi32(a, kBits);
}
template <int kBits>
TBOOST_INLINE VI ShiftRightSigned(VI a) {
  return _mm512_srai_epi32(a, kBits);
}
TBOOST_INLINE VI ShiftRightBy(VI a, int bits) {
  return _mm512_srl_epi32(a, _mm_cvtsi32_si128(bits));
}

TBOOST_INLINE VM Less(VF a, VF b) { return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ); }
TBOOST_INLINE VM LessEqual(VF a, VF b) { return _mm512_cmp_ps_mask(a, b, _CMP_LE_OQ); }
TBOOST_INLINE VM Equal(VF a, VF b) { return _mm512_cmp_ps_mask(a, b, _CMP_EQ_OQ); }
TBOOST_INLINE VM MaskAnd(VM a, VM b) { return static_cast<VM>(a & b); }
TBOOST_INLINE VF Select(VM m, VF a, VF b) { return _mm512_mask_blend_ps(m, b, a); }

TBOOST_INLINE VF LoadF16(const uint16_t* p) {
  return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
}
TBOOST_INLINE VI LoadU16(const uint16_t* p) {
  return _mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
}
TBOOST_INLINE VI LoadU8(const uint8_t* p) {
  return _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
}
TBOOST_INLINE VI LoadI8(const int8_t* p) {
  return _mm512_cvtepi8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
}
TBOOST_INLINE void StoreI8(VI a, int8_t* p) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm512_cvtepi32_epi8(a));
}
TBOOST_INLINE VI AddDot8(VI sum, VI a, VI b) {
#if defined(TBOOST_ISA_avx512_vnni)
  return _mm512_dpbusd_epi32(sum, a, b);
#else
  const VI pairs = _mm512_maddubs_epi16(a, b);
  return _mm512_add_epi32(sum, _mm512_madd_epi16(pairs, _mm512_set1_epi16(1)));
#endif
}
TBOOST_INLINE VI AddDot16(VI sum, VI a, VI b) {
  return _mm512_add_epi32(sum, _mm512_madd_epi16(a, b));
}
TBOOST_INLINE void LoadF16Pairs(const void* p, VF& even, VF& odd) {
  const VI words = _mm512_loadu_si512(p);
  even = _mm512_cvtph_ps(_mm512_cvtepi32_epi16(words));
  odd = _mm512_cvtph_ps(_mm512_cvtepi32_epi16(ShiftRight<16>(words)));
}
TBOOST_INLINE VF LowNibble(VI a) {
  const VF table = _mm512_setr_ps(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  return _mm512_permutexvar_ps(a, table);
}

#ifdef TBOOST_ISA_avx512_bf16
TBOOST_INLINE VF ToBF16Pairs(VF first, VF second) { return (VF)_mm512_cvtne2ps_pbh(second, first); }
TBOOST_INLINE VF AddBF16Products(VF a, VF b, VF sum) {
  return _mm512_dpbf16_ps(sum, (__m512bh)a, (__m512bh)b);
}
#endif

TBOOST_INLINE float ReduceAdd(VF a) {
  const __m256 b = _mm256_add_ps(_mm512_castps512_ps256(a), _mm512_extractf32x8_ps(a, 1));
  __m128 c = _mm_add_ps(_mm256_castps256_ps128(b), _mm256_extractf128_ps(b, 1));
  c = _mm_add_ps(c, _mm_movehl_ps(c, c));
  return _mm_cvtss_f32(_mm_add_ss(c, _mm_movehdup_ps(c)));
}
TBOOST_INLINE float ReduceMax(VF a) {
  const __m256 b = _mm256_max_ps(_mm512_castps512_ps256(a), _mm512_extractf32x8_ps(a, 1));
  __m128 c = _mm_max_ps(_mm256_castps256_ps128(b), _mm256_extractf128_ps(b, 1));
  c = _mm_max_ps(c, _mm_movehl_ps(c, c));
  return _mm_cvtss_f32(_mm_max_ss(c, _mm_movehdup_ps(c)));
}

}  // namespace native
}  // namespace tboost::kernels::TBOOST_ISA
