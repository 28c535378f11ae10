// x86-64-v3 (AVX2, FMA, F16C): 8 lanes. Included by simd.h only.
#pragma once

#include <immintrin.h>

namespace tboost::kernels::TBOOST_ISA {

inline constexpr int kVectorRegisters = 16;
inline constexpr bool kFusedMultiplyAdd = true;
#if defined(TBOOST_ISA_avx2_vnni)
inline constexpr bool kExactDot8 = true;
#else
inline constexpr bool kExactDot8 = false;
#endif

namespace native {

inline constexpr int kLanes = 8;
using VF = __m256;
using VI = __m256i;
using VM = __m256;

TBOOST_INLINE VI AsInt(VF a) { return _mm256_castps_si256(a); }
TBOOST_INLINE VF AsFloat(VI a) { return _mm256_castsi256_ps(a); }
TBOOST_INLINE VF Set1(float a) { return _mm256_set1_ps(a); }
TBOOST_INLINE VI SetInt1(int32_t a) { return _mm256_set1_epi32(a); }
TBOOST_INLINE VM FirstLanes(int n) {
  return AsFloat(_mm256_cmpgt_epi32(SetInt1(n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7)));
}

TBOOST_INLINE VF Load(const float* p) { return _mm256_loadu_ps(p); }
TBOOST_INLINE VI LoadInt(const int32_t* p) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
}
TBOOST_INLINE void Store(VF a, float* p) { _mm256_storeu_ps(p, a); }
TBOOST_INLINE VF LoadPartial(const float* p, int n) {
  return _mm256_maskload_ps(p, AsInt(FirstLanes(n)));
}
TBOOST_INLINE void StorePartial(VF a, float* p, int n) {
  _mm256_maskstore_ps(p, AsInt(FirstLanes(n)), a);
}

TBOOST_INLINE VF Add(VF a, VF b) { return _mm256_add_ps(a, b); }
TBOOST_INLINE VF Sub(VF a, VF b) { return _mm256_sub_ps(a, b); }
TBOOST_INLINE VF Mul(VF a, VF b) { return _mm256_mul_ps(a, b); }
TBOOST_INLINE VF Div(VF a, VF b) { return _mm256_div_ps(a, b); }
TBOOST_INLINE VF Fma(VF a, VF b, VF c) { return _mm256_fmadd_ps(a, b, c); }
TBOOST_INLINE VF Max(VF a, VF b) { return _mm256_max_ps(a, b); }
TBOOST_INLINE VF Min(VF a, VF b) { return _mm256_min_ps(a, b); }
TBOOST_INLINE VF Sqrt(VF a) { return _mm256_sqrt_ps(a); }
TBOOST_INLINE VF Floor(VF a) { return _mm256_floor_ps(a); }
TBOOST_INLINE VF Round(VF a) {
  return _mm256_round_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

TBOOST_INLINE VI ToInt(VF a) { return _mm256_cvtps_epi32(a); }
TBOOST_INLINE VF ToFloat(VI a) { return _mm256_cvtepi32_ps(a); }
TBOOST_INLINE VI Add(VI a, VI b) { return _mm256_add_epi32(a, b); }
TBOOST_INLINE VI Sub(VI a, VI b) { return _mm256_sub_epi32(a, b); }
TBOOST_INLINE VI And(VI a, VI b) { return _mm256_and_si256(a, b); }
TBOOST_INLINE VI Or(VI a, VI b) { return _mm256_or_si256(a, b); }
template <int kBits>
TBOOST_INLINE VI ShiftLeft(VI a) {
  return _mm256_slli_epi32(a, kBits);
}
template <int kBits>
TBOOST_INLINE VI ShiftRight(VI a) {
  return _mm256_srli_epi32(a, kBits);
}
template <int kBits>
TBOOST_INLINE VI ShiftRightSigned(VI a) {
  return _mm256_srai_epi32(a, kBits);
}
TBOOST_INLINE VI ShiftRightBy(VI a, int bits) {
  return _mm256_srl_epi32(a, _mm_cvtsi32_si128(bits));
}

TBOOST_INLINE VM Less(VF a, VF b) { return _mm256_cmp_ps(a, b, _CMP_LT_OQ); }
TBOOST_INLINE VM LessEqual(VF a, VF b) { return _mm256_cmp_ps(a, b, _CMP_LE_OQ); }
TBOOST_INLINE VM Equal(VF a, VF b) { return _mm256_cmp_ps(a, b, _CMP_EQ_OQ); }
TBOOST_INLINE VM MaskAnd(VM a, VM b) { return _mm256_and_ps(a, b); }
TBOOST_INLINE VF Select(VM m, VF a, VF b) { return _mm256_blendv_ps(b, a, m); }

TBOOST_INLINE VF LoadF16(const uint16_t* p) {
  return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
}
TBOOST_INLINE VI LoadU16(const uint16_t* p) {
  return _mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
}
TBOOST_INLINE VI LoadU8(const uint8_t* p) {
  return _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)));
}
TBOOST_INLINE VI LoadI8(const int8_t* p) {
  return _mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)));
}
TBOOST_INLINE void StoreI8(VI a, int8_t* p) {
  const VI low = _mm256_setr_epi8(0, 4, 8, 12, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 0, 4,
                                  8, 12, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1);
  const VI bytes = _mm256_shuffle_epi8(a, low);
  _mm_storel_epi64(
      reinterpret_cast<__m128i*>(p),
      _mm_unpacklo_epi32(_mm256_castsi256_si128(bytes), _mm256_extracti128_si256(bytes, 1)));
}
TBOOST_INLINE VI AddDot8(VI sum, VI a, VI b) {
#if defined(TBOOST_ISA_avx2_vnni)
  return _mm256_dpbusd_avx_epi32(sum, a, b);
#else
  const VI pairs = _mm256_maddubs_epi16(a, b);
  return _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
#endif
}
TBOOST_INLINE VI AddDot16(VI sum, VI a, VI b) {
  return _mm256_add_epi32(sum, _mm256_madd_epi16(a, b));
}
TBOOST_INLINE void LoadF16Pairs(const void* p, VF& even, VF& odd) {
  const VI words = LoadInt(static_cast<const int32_t*>(p));
  // Within each half: 4 even numbers, then 4 odd; then all even, all odd.
  const VI split = _mm256_shuffle_epi8(
      words, _mm256_setr_epi8(0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15, 0, 1, 4, 5, 8,
                              9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15));
  const VI sorted = _mm256_permute4x64_epi64(split, 0xd8);
  even = _mm256_cvtph_ps(_mm256_castsi256_si128(sorted));
  odd = _mm256_cvtph_ps(_mm256_extracti128_si256(sorted, 1));
}
TBOOST_INLINE VF LowNibble(VI a) { return ToFloat(And(a, SetInt1(15))); }

TBOOST_INLINE float ReduceAdd(VF a) {
  __m128 b = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
  b = _mm_add_ps(b, _mm_movehl_ps(b, b));
  return _mm_cvtss_f32(_mm_add_ss(b, _mm_movehdup_ps(b)));
}
TBOOST_INLINE float ReduceMax(VF a) {
  __m128 b = _mm_max_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
  b = _mm_max_ps(b, _mm_movehl_ps(b, b));
  return _mm_cvtss_f32(_mm_max_ss(b, _mm_movehdup_ps(b)));
}

}  // namespace native
}  // namespace tboost::kernels::TBOOST_ISA
