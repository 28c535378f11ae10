// The exponentials against double, on every instruction set: some of all arguments, or with
// TBOOST_SLOW_TESTS=1 every float from 0 down to where results stop being normal numbers.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <thread>
#include <vector>

#include "src/base/cpu_features.h"

namespace tboost::kernels {

#define TBOOST_PROBE(isa)                              \
  namespace isa {                                      \
  void ExpOfAll(const float* x, int64_t n, float* y);  \
  void Exp2OfAll(const float* x, int64_t n, float* y); \
  }
TBOOST_PROBE(baseline)
TBOOST_PROBE(avx2)
TBOOST_PROBE(avx512)
TBOOST_PROBE(emulated)
#undef TBOOST_PROBE

namespace {

using OfAll = void (*)(const float* x, int64_t n, float* y);
struct Probe {
  const char* name;
  Isa needs;
  OfAll exp, exp2;
};
const Probe kProbes[] = {{"baseline", Isa::kBaseline, baseline::ExpOfAll, baseline::Exp2OfAll},
                         {"avx2", Isa::kAvx2, avx2::ExpOfAll, avx2::Exp2OfAll},
                         {"avx512", Isa::kAvx512, avx512::ExpOfAll, avx512::Exp2OfAll},
                         {"emulated", Isa::kAvx2, emulated::ExpOfAll, emulated::Exp2OfAll}};
constexpr size_t kProbeCount = std::size(kProbes);

// The distance of floats around a positive normal one.
double UlpOf(float x) {
  return double{std::bit_cast<float>(std::bit_cast<uint32_t>(x) & 0x7f800000u)} * 0x1p-23;
}

// The greatest errors of the probes, in units of the last place of the result.
struct Errors {
  double ulps[kProbeCount] = {};
};

// Every step-th float of the bits [first, last) downwards from -0.
Errors Measure(bool base_2, uint32_t first, uint32_t last, uint32_t step) {
  constexpr size_t kChunk = 4096;
  std::vector<float> x(kChunk), y(kChunk);
  std::vector<double> want(kChunk), ulp(kChunk);
  Errors errors;
  for (uint64_t bits = first; bits < last; bits += uint64_t{kChunk} * step) {
    for (size_t i = 0; i < kChunk; ++i) {
      const uint64_t at = std::min<uint64_t>(bits + i * step, last - 1);
      x[i] = std::bit_cast<float>(static_cast<uint32_t>(at));
      want[i] = base_2 ? std::exp2(double{x[i]}) : std::exp(double{x[i]});
      ulp[i] = 1 / UlpOf(static_cast<float>(want[i]));
    }
    for (size_t p = 0; p < kProbeCount; ++p) {
      if (DetectIsa() < kProbes[p].needs || (step == 1 && p + 1 == kProbeCount)) continue;
      (base_2 ? kProbes[p].exp2 : kProbes[p].exp)(x.data(), kChunk, y.data());
      double worst = errors.ulps[p];
      for (size_t i = 0; i < kChunk; ++i) {
        const double error = std::abs(y[i] - want[i]) * ulp[i];
        worst = error > worst || std::isnan(error) ? error : worst;
      }
      errors.ulps[p] = worst;
    }
  }
  return errors;
}

void ExpectAccurate(bool base_2, uint32_t step) {
  constexpr uint32_t kFirst = 0x80000000u, kPieces = 256;
  const float lowest = base_2 ? -126.0f : -87.33654f;
  const uint32_t last = std::bit_cast<uint32_t>(lowest) + 1;
  const uint32_t piece = (last - kFirst) / kPieces + 1;
  std::atomic<uint32_t> next = 0;
  std::vector<Errors> errors(kPieces);
  const auto work = [&] {
    for (uint32_t i; (i = next++) < kPieces;) {
      const uint32_t first = kFirst + i * piece;
      errors[i] = Measure(base_2, first, std::min(first + piece, last), step);
    }
  };
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < std::thread::hardware_concurrency(); ++i) threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
  for (size_t p = 0; p < kProbeCount; ++p) {
    double worst = 0;
    for (const Errors& piece_errors : errors) worst = std::max(worst, piece_errors.ulps[p]);
    if (DetectIsa() < kProbes[p].needs || (step == 1 && p + 1 == kProbeCount)) {
      std::printf("[ NOT RUN  ] %s\n", kProbes[p].name);
      continue;
    }
    std::printf("[ MEASURED ] %s: %.3f ulp\n", kProbes[p].name, worst);
    EXPECT_LE(worst, 1.5) << kProbes[p].name;
    EXPECT_GT(worst, 0.4) << kProbes[p].name << ": nothing was compared";
  }
}

TEST(Exponentials, AreWithinTheirBound) {
  ExpectAccurate(false, 20011);
  ExpectAccurate(true, 20011);
}

TEST(Exponentials, AreWithinTheirBoundOverEveryFloatSlow) {
  if (!std::getenv("TBOOST_SLOW_TESTS")) GTEST_SKIP() << "set TBOOST_SLOW_TESTS=1";
  ExpectAccurate(false, 1);
  ExpectAccurate(true, 1);
}

}  // namespace
}  // namespace tboost::kernels
