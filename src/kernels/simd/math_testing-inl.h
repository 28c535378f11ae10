// Tests of math-inl.h for the vectors that the including test chooses through TBOOST_ISA;
// TBOOST_MATH_SUITE names the suite. All instruction sets with a fused multiply-add give equal
// bits, the emulation too.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "src/kernels/simd/math-inl.h"

namespace tboost::kernels::TBOOST_ISA {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr uint32_t kMinusZero = 0x80000000u, kLowestBits = 0xC2AEAC4Fu;  // -87.33654

float Negative(uint32_t bits) { return std::bit_cast<float>(bits); }

struct ExpErrors {
  double ulps = 0;
  bool monotone = true;  // but for one ulp
};

// Exp of every step-th float between bits `first` and `last` downwards from -0.
ExpErrors MeasureExp(uint32_t first, uint32_t last, uint32_t step) {
  ExpErrors errors;
  float previous = std::numeric_limits<float>::max();
  for (uint64_t bits = first; bits <= last; bits += uint64_t{16} * step) {
    float x[16], y[16];
    for (uint32_t i = 0; i < 16; ++i) {
      x[i] = Negative(static_cast<uint32_t>(std::min<uint64_t>(bits + i * step, last)));
    }
    Store(Exp(Load(x)), y);
    for (int i = 0; i < 16; ++i) {
      const double want = std::exp(double{x[i]});
      const float near = static_cast<float>(want);
      const double ulp = double{std::nextafter(near, kInfinity)} - near;
      errors.ulps = std::max(errors.ulps, std::abs(y[i] - want) / ulp);
      errors.monotone = errors.monotone && y[i] <= std::nextafter(previous, kInfinity);
      previous = y[i];
    }
  }
  return errors;
}

constexpr auto kExp = [](F32x16 x) TBOOST_INLINE_LAMBDA { return Exp(x); };
constexpr auto kExp2 = [](F32x16 x) TBOOST_INLINE_LAMBDA { return Exp2(x); };
constexpr auto kTanh = [](F32x16 x) TBOOST_INLINE_LAMBDA { return Tanh(x); };

template <class Function>
float Of(const Function& function, float x) {
  float y[16];
  Store(function(Set1(x)), y);
  return y[7];
}

TEST(TBOOST_MATH_SUITE, ExpIsAccurateAndMonotone) {
  const ExpErrors errors = MeasureExp(kMinusZero, kLowestBits, 1009);
  EXPECT_LE(errors.ulps, 1.5);
  EXPECT_TRUE(errors.monotone);
  for (float x = 0; x < 88.7f; x += 0.0137f) {
    EXPECT_NEAR(Of(kExp, x) / std::exp(double{x}), 1, 1.5e-7) << x;
  }
}

TEST(TBOOST_MATH_SUITE, Exp2OfSpecialValues) {
  EXPECT_EQ(Of(kExp2, 0.0f), 1);
  EXPECT_EQ(Of(kExp2, -0.0f), 1);
  for (int n = -126; n <= 0; ++n) {
    EXPECT_EQ(Of(kExp2, static_cast<float>(n)), std::ldexp(1.0f, n)) << n;
  }
  EXPECT_EQ(Of(kExp2, -126.6f), 0);
  EXPECT_EQ(Of(kExp2, -1e30f), 0);
  EXPECT_EQ(Of(kExp2, std::numeric_limits<float>::lowest()), 0);
  EXPECT_EQ(Of(kExp2, -kInfinity), 0);
  for (uint32_t bits : {0x7fc00000u, 0xffc00000u, 0x7fffffffu, 0x7f800001u, 0x7fc00100u}) {
    EXPECT_TRUE(std::isnan(Of(kExp2, std::bit_cast<float>(bits)))) << bits;
  }
}

TEST(TBOOST_MATH_SUITE, ExpOfSpecialValues) {
  EXPECT_EQ(Of(kExp, 0.0f), 1);
  EXPECT_EQ(Of(kExp, -0.0f), 1);
  EXPECT_EQ(Of(kExp, -kInfinity), 0);
  EXPECT_EQ(Of(kExp, std::numeric_limits<float>::lowest()), 0);
  EXPECT_EQ(Of(kExp, -88.0f), 0);
  EXPECT_EQ(Of(kExp, 89.0f), kInfinity);
  EXPECT_EQ(Of(kExp, 3e38f), kInfinity);
  EXPECT_EQ(Of(kExp, kInfinity), kInfinity);
  for (uint32_t bits : {0x7fc00000u, 0xffc00000u, 0x7fffffffu, 0x7f800001u, 0x7fc00100u}) {
    EXPECT_TRUE(std::isnan(Of(kExp, std::bit_cast<float>(bits)))) << bits;
  }
}

TEST(TBOOST_MATH_SUITE, TanhIsAccurateAndBounded) {
  for (float x = 1e-30f; x < 40; x = x * 1.0007f + 1e-30f) {
    const float y = Of(kTanh, x);
    EXPECT_NEAR(y / std::tanh(double{x}), 1, 5e-7) << x;
    EXPECT_LE(y, 1);
    EXPECT_EQ(Of(kTanh, -x), -y);
  }
  EXPECT_EQ(Of(kTanh, 0.0f), 0);
  for (float x : {30.0f, 1e30f, kInfinity}) {
    EXPECT_NEAR(Of(kTanh, x), 1, 1e-6);
    EXPECT_NEAR(Of(kTanh, -x), -1, 1e-6);
  }
  EXPECT_TRUE(std::isnan(Of(kTanh, std::nanf(""))));
}

double Exact(Activation activation, double x) {
  switch (activation) {
    case Activation::kNone:
      return x;
    case Activation::kGeluErf:
      return 0.5 * x * std::erfc(-x * std::sqrt(0.5));
    case Activation::kGeluTanh:
      return x / (1 + std::exp(-2 * std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
    case Activation::kGeluQuick:
      return x / (1 + std::exp(-1.702 * x));
    case Activation::kSilu:
      return x / (1 + std::exp(-x));
    case Activation::kRelu:
      return x > 0 ? x : 0;
    case Activation::kTanh:
      return std::tanh(x);
  }
  return 0;
}

TEST(TBOOST_MATH_SUITE, ActivationsAreAccurate) {
  for (int i = 0; i <= static_cast<int>(Activation::kTanh); ++i) {
    const auto activation = static_cast<Activation>(i);
    const auto function = [=](F32x16 x) TBOOST_INLINE_LAMBDA { return Activate(activation, x); };
    for (int step = -40000; step <= 40000; ++step) {
      const float x = static_cast<float>(step) * 0.0005f;
      const double tolerance = 1.5e-7 + 2e-7 * std::abs(x);
      ASSERT_NEAR(Of(function, x), Exact(activation, x), tolerance) << i << " at " << x;
    }
    for (float x : {60000.0f, 1e15f, 3e38f}) {  // outliers
      EXPECT_EQ(Of(function, x), Exact(activation, x)) << i;
      EXPECT_EQ(Of(function, -x), Exact(activation, -x)) << i;
    }
    EXPECT_TRUE(std::isnan(Of(function, std::nanf("")))) << i;
  }
}

}  // namespace
}  // namespace tboost::kernels::TBOOST_ISA
