// Statistics of a row and its normalisation. Included by ISA sources only.
#pragma once

#include <cstdint>

#include "src/kernels/kernels.h"
#include "src/kernels/simd/span-inl.h"

namespace tboost::kernels::TBOOST_ISA {

// What turns x into its normalised value, before gamma and beta: (x - mean) * factor.
struct RowStatistics {
  float mean = 0;
  float factor = 1;
};

// Of one row, in f32 and in one order. The variance is taken from the deviations, so that a large
// common offset or a single large element does not cancel.
TBOOST_INLINE RowStatistics Statistics(NormKind kind, float eps, const float* x, int64_t k) {
  RowStatistics row;
  if (kind == NormKind::kNone) return row;
  if (kind == NormKind::kLayer) {
    row.mean = SumVectors(k, [&](int64_t i, auto span)
                                 TBOOST_INLINE_LAMBDA { return span.LoadFrom(x + i); }) /
               static_cast<float>(k);
  }
  const F32x16 mean = Set1(row.mean);
  const float squares = SumVectors(k, [&](int64_t i, auto span) TBOOST_INLINE_LAMBDA {
    const F32x16 deviation = span.LoadFrom(x + i) - mean;
    return deviation * deviation;
  });
  row.factor = 1 / __builtin_sqrtf(squares / static_cast<float>(k) + eps);
  return row;
}

// The normalised elements of a row: (x - mean) * factor * gamma + beta; gamma and beta may be null.
class Normalizer {
 public:
  TBOOST_INLINE Normalizer(const RowStatistics& row, const float* gamma, const float* beta)
      : mean_(Set1(row.mean)), factor_(Set1(row.factor)), gamma_(gamma), beta_(beta) {}

  // Those of x from i on.
  template <class Span>
  TBOOST_INLINE F32x16 operator()(const float* x, int64_t i, const Span& span) const {
    F32x16 value = (span.LoadFrom(x + i) - mean_) * factor_;
    if (gamma_) value = value * span.LoadFrom(gamma_ + i);
    if (beta_) value = value + span.LoadFrom(beta_ + i);
    return value;
  }

 private:
  F32x16 mean_, factor_;
  const float *gamma_, *beta_;
};

// A row of k elements, normalised; y may be x.
TBOOST_INLINE void Normalize(const RowStatistics& row, const float* gamma, const float* beta,
                             const float* x, int64_t k, float* y) {
  const Normalizer normalize(row, gamma, beta);
  ForVectors(k, [&](int64_t i, auto span)
                    TBOOST_INLINE_LAMBDA { span.StoreTo(normalize(x, i, span), y + i); });
}

}  // namespace tboost::kernels::TBOOST_ISA
