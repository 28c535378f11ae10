// Loops that keep a core's multipliers or its loads busy and do nothing else.
#include "src/kernels/kernels.h"
#include "src/kernels/simd/simd.h"

namespace tboost::kernels::TBOOST_ISA {
namespace {

// As many as cover the latency of the slowest instruction on two units, and as the registers hold.
constexpr int kChains = kVectorRegisters >= 32 ? 14 : 12;

// Larger blocks come from memory, where two cores read more with prefetches than without.
constexpr int64_t kCacheBytes = 32 << 20;
constexpr int64_t kAheadBytes = 4096;

// The optimiser takes the value for used.
template <class Vector>
TBOOST_INLINE void Keep(const Vector& value) {
  asm volatile("" ::"m"(value));
}

// sum = step(sum), over and over, in independent chains. They begin apart, or they would be merged.
template <class Vector, class First, class Step>
TBOOST_INLINE void RunChains(int64_t rounds, const First& first, const Step& step) {
  Vector sums[kChains];
  Unroll<kChains>([&](auto i) TBOOST_INLINE_LAMBDA { sums[i] = first(i); });
  for (int64_t r = 0; r < rounds; ++r)
    Unroll<kChains>([&](auto i) TBOOST_INLINE_LAMBDA { sums[i] = step(sums[i]); });
  Vector total = sums[0];  // whose address is taken, not the chains': those stay in registers
  Unroll<kChains - 1>([&](auto i)
                          TBOOST_INLINE_LAMBDA { total = native::Add(total, sums[i + 1]); });
  Keep(total);
}

// Each of these runs the rounds and gives the operations of one step.
double RunF32(int64_t rounds) {
  const native::VF a = native::Set1(0.75f), b = native::Set1(0.25f);
  RunChains<native::VF>(
      rounds, [](int i) TBOOST_INLINE_LAMBDA { return native::Set1(static_cast<float>(i)); },
      [&](native::VF sum) TBOOST_INLINE_LAMBDA { return native::Fma(sum, a, b); });
  return 2.0 * native::kLanes;
}

#if defined(TBOOST_ISA_avx512_bf16)
double RunBF16(int64_t rounds) {
  const auto a = (__m512bh)_mm512_set1_epi32(0x3f003f00), b = a;
  RunChains<native::VF>(
      rounds, [](int i) TBOOST_INLINE_LAMBDA { return native::Set1(static_cast<float>(i)); },
      [&](native::VF sum) TBOOST_INLINE_LAMBDA { return _mm512_dpbf16_ps(sum, a, b); });
  return 4.0 * native::kLanes;
}
#else
double RunBF16(int64_t) { return 0; }
#endif

#if defined(TBOOST_ISA_avx512_vnni)
TBOOST_INLINE native::VI DotInt8(native::VI sum, native::VI a, native::VI b) {
  return _mm512_dpbusd_epi32(sum, a, b);
}
#elif defined(TBOOST_ISA_avx2_vnni)
TBOOST_INLINE native::VI DotInt8(native::VI sum, native::VI a, native::VI b) {
  return _mm256_dpbusd_avx_epi32(sum, a, b);
}
#elif defined(TBOOST_ISA_avx2)
// The sum itself is the other factor: constant products would leave the loop.
TBOOST_INLINE native::VI DotInt8(native::VI sum, native::VI a, native::VI) {
  const native::VI pairs = _mm256_maddubs_epi16(a, sum);
  return _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
}
#else
#define TBOOST_NO_INT8
#endif

#if defined(TBOOST_NO_INT8)
double RunInt8(int64_t) { return 0; }
#undef TBOOST_NO_INT8
#else
double RunInt8(int64_t rounds) {
  const native::VI a = native::SetInt1(0x01020304), b = native::SetInt1(0x04030201);
  RunChains<native::VI>(
      rounds, [](int i) TBOOST_INLINE_LAMBDA { return native::SetInt1(i); },
      [&](native::VI sum) TBOOST_INLINE_LAMBDA { return DotInt8(sum, a, b); });
  return 8.0 * native::kLanes;
}
#endif

// With prefetches so many bytes ahead.
template <int64_t kAhead>
double Read(const PeakArgs& args) {
  constexpr int kLoads = 8;
  constexpr int64_t kStep = kLoads * native::kLanes * int64_t{sizeof(int32_t)};
  native::VI sums[kLoads];
  Unroll<kLoads>([&](auto i) TBOOST_INLINE_LAMBDA { sums[i] = native::SetInt1(0); });
  for (int64_t r = 0; r < args.rounds; ++r) {
    const char* block = args.block;
    asm volatile("" : "+r"(block));  // might be another one: each round reads
    for (const char* p = block; p < block + args.bytes; p += kStep) {
      if constexpr (kAhead > 0)
        for (int64_t line = 0; line < kStep; line += 64) Prefetch(p + kAhead + line);
      Unroll<kLoads>([&](auto i) TBOOST_INLINE_LAMBDA {
        sums[i] = native::Or(
            sums[i], native::LoadInt(reinterpret_cast<const int32_t*>(p) + i * native::kLanes));
      });
    }
  }
  native::VI total = sums[0];
  Unroll<kLoads - 1>([&](auto i) TBOOST_INLINE_LAMBDA { total = native::Or(total, sums[i + 1]); });
  Keep(total);
  return static_cast<double>(args.rounds) * static_cast<double>(args.bytes);
}

}  // namespace

void peak(const PeakArgs& args, int64_t, Scratch) {
  if (args.kind == PeakKind::kRead) {
    *args.work = args.bytes > kCacheBytes ? Read<kAheadBytes>(args) : Read<0>(args);
    return;
  }
  const double step = args.kind == PeakKind::kF32    ? RunF32(args.rounds)
                      : args.kind == PeakKind::kBF16 ? RunBF16(args.rounds)
                                                     : RunInt8(args.rounds);
  *args.work = step * kChains * static_cast<double>(args.rounds);
}

}  // namespace tboost::kernels::TBOOST_ISA
