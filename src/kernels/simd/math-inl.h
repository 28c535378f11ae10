// Functions over 16 lanes: exp, tanh and the activations. Included by ISA sources only.
//
// Coefficients are minimax fits of this project, from weighted least squares with the weights moved
// towards the largest error until all extremes are level (60 digits, Chebyshev nodes). NaN gives
// NaN.
#pragma once

#include "src/kernels/kernels.h"
#include "src/kernels/simd/simd.h"

namespace tboost::kernels::TBOOST_ISA {

// c[0] + c[1] x + c[2] x^2 + ...
template <int kTerms>
TBOOST_INLINE F32x16 Polynomial(F32x16 x, const float (&c)[kTerms]) {
  F32x16 sum = Set1(c[kTerms - 1]);
  Unroll<kTerms - 1>([&](auto i)
                         TBOOST_INLINE_LAMBDA { sum = Fma(sum, x, Set1(c[kTerms - 2 - i])); });
  return sum;
}

// The same from pairs of terms, pairs of those...: more multiplications, but few wait for each
// other.
template <int kTerms>
TBOOST_INLINE F32x16 SumPairwise(F32x16 x, const F32x16 (&terms)[kTerms]) {
  if constexpr (kTerms == 1) {
    return terms[0];
  } else {
    F32x16 pairs[(kTerms + 1) / 2];
    Unroll<kTerms / 2>(
        [&](auto i) TBOOST_INLINE_LAMBDA { pairs[i] = Fma(x, terms[2 * i + 1], terms[2 * i]); });
    if constexpr (kTerms % 2 == 1) pairs[kTerms / 2] = terms[kTerms - 1];
    return SumPairwise(x * x, pairs);
  }
}
template <int kTerms>
TBOOST_INLINE F32x16 PairwisePolynomial(F32x16 x, const float (&c)[kTerms]) {
  F32x16 terms[kTerms];
  Unroll<kTerms>([&](auto i) TBOOST_INLINE_LAMBDA { terms[i] = Set1(c[i]); });
  return SumPairwise(x, terms);
}

TBOOST_INLINE F32x16 Clamp(F32x16 x, float limit) {  // to [-limit, limit]
  return Max(Set1(-limit), Min(Set1(limit), x));
}

// e^x within 1.2 ulp wherever the result is a normal number, 0 below that, infinity above; exactly
// 1 at 0; a greater x never gives more than one ulp less.
TBOOST_INLINE F32x16 Exp(F32x16 x) {
  // x = n ln 2 + r with |r| <= ln 2 / 2. Adding 1.5 * 2^23 rounds to an integer, which then stands
  // in the low bits. The first part of ln 2 has 9 bits, so that its product with n is exact.
  const F32x16 rounder = Set1(0x1.8p23f);
  const F32x16 rounded = Fma(x, Set1(1.44269504f), rounder);
  const F32x16 n = rounded - rounder;
  const F32x16 r = Fma(n, Set1(2.12194440e-4f), Fma(n, Set1(-0.693359375f), x));
  constexpr float kTerms[] = {1,           1,           0.49999993f,  0.16666515f,
                              0.04166846f, 0.00836942f, 0.0013813078f};  // 3.3e-9 relative
  // 2^n goes into the exponent by an integer addition.
  const F32x16 power = AsFloat(AsInt(Polynomial(r, kTerms)) + ShiftLeft<23>(AsInt(rounded)));
  const F32x16 infinity = Set1(__builtin_inff());
  const F32x16 finite = Select(Less(x, Set1(-87.33654f)), Zero(), power);
  return Select(LessEqual(x, Set1(88.72283f)), finite, x + infinity);
}

// 2^x for x <= 0 within 1.2 ulp wherever the result is a normal number; 0 below -126.5; exactly 1
// at 0. NaN gives NaN.
TBOOST_INLINE F32x16 Exp2(F32x16 x) {
  // Adding 1.5 * 2^23 + 127 rounds to an integer n; the low bits then are the exponent of 2^n,
  // which for n = -127 is 0.
  const F32x16 rounder = Set1(0x1.8p23f + 127);
  const F32x16 bounded = Max(Set1(-127), x), rounded = bounded + rounder;
  constexpr float kTerms[] = {1,
                              0x1.62e43p-1f,
                              0x1.ebfbdcp-3f,
                              0x1.c6af7ap-5f,
                              0x1.3b2dd2p-7f,
                              0x1.5f0946p-10f,
                              0x1.417a5cp-13f};  // 3.0e-9 relative
  return Polynomial(bounded - (rounded - rounder), kTerms) * AsFloat(ShiftLeft<23>(AsInt(rounded)));
}

// Within 4e-7 relative, never beyond 1: x P(x^2) / Q(x^2) up to where tanh rounds to 1.
TBOOST_INLINE F32x16 Tanh(F32x16 x) {
  constexpr float kP[] = {0.999999979f, 0.133797053f, 3.49401904e-3f, 2.05832099e-5f,
                          1.33186726e-8f};
  constexpr float kQ[] = {1, 0.467130205f, 0.0258710153f, 3.28306672e-4f, 7.76186062e-7f};
  const F32x16 a = Clamp(x, 9.02f);
  const F32x16 square = a * a;
  return Clamp(a * Polynomial(square, kP) / Polynomial(square, kQ), 1);
}

// x (1 + erf(x / sqrt 2)) / 2 within 2e-7 absolute, as max(x, 0) - |x| 2^p(|x|) with p the
// logarithm of erfc(|x| / sqrt 2) / 2, which needs no subtraction from 1 where x is far below 0.
TBOOST_INLINE F32x16 GeluErf(F32x16 x) {
  // Fitted up to 6; beyond it p keeps falling fast enough for the product to vanish.
  constexpr float kP[] = {-0.999993747f,   -1.15119183f,    -0.458818537f,
                          -0.0533056161f,  0.00795529315f,  -0.000688031378f,
                          4.60643113e-06f, 4.95088115e-06f, -3.20938354e-07f};
  const F32x16 z = Min(Set1(16), Abs(x));
  return Max(Zero(), x) - z * Exp2(PairwisePolynomial(z, kP));
}

TBOOST_INLINE F32x16 TimesSigmoid(F32x16 x, F32x16 z) {  // x / (1 + e^-z)
  return x / (Set1(1) + Exp(Zero() - z));
}

// x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2
TBOOST_INLINE F32x16 GeluTanh(F32x16 x) {
  const F32x16 inner = Fma(x * x, Set1(0.0713548163f), Set1(1.59576912f));  // 2 sqrt(2 / pi) (...)
  return TimesSigmoid(x, x * inner);
}

TBOOST_INLINE F32x16 Activate(Activation activation, F32x16 x) {
  switch (activation) {
    case Activation::kNone:
      return x;
    case Activation::kGeluErf:
      return GeluErf(x);
    case Activation::kGeluTanh:
      return GeluTanh(x);
    case Activation::kGeluQuick:
      return TimesSigmoid(x, x * Set1(1.702f));
    case Activation::kSilu:
      return TimesSigmoid(x, x);
    case Activation::kRelu:
      return Max(Zero(), x);
    case Activation::kTanh:
      return Tanh(x);
  }
  return x;
}

// visit(f) with f(x) = Activate(activation, x): loops inside `visit` are compiled once for each
// activation.
template <class Visit>
TBOOST_INLINE void WithActivation(Activation activation, const Visit& visit) {
  Unroll<static_cast<int>(Activation::kTanh) + 1>([&](auto i) TBOOST_INLINE_LAMBDA {
    constexpr auto kChoice = static_cast<Activation>(decltype(i)::value);
    if (activation == kChoice)
      visit([](F32x16 x) TBOOST_INLINE_LAMBDA { return Activate(kChoice, x); });
  });
}

}  // namespace tboost::kernels::TBOOST_ISA
