#include "src/ops/reference_math.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tboost {
namespace {

using kernels::Activation;
using kernels::NormKind;

constexpr double kTanhScale = 0.7978845608028654;  // sqrt(2 / pi)
constexpr double kTanhCubic = 0.044715;
constexpr double kQuickScale = 1.702;

double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double NormalCdf(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }
double NormalPdf(double x) {
  return std::exp(-0.5 * x * x) * std::numbers::inv_sqrtpi / std::numbers::sqrt2;
}

}  // namespace

double Activate(Activation kind, double x) {
  switch (kind) {
    case Activation::kNone:
      return x;
    case Activation::kGeluErf:
      return x * NormalCdf(x);
    case Activation::kGeluTanh:
      return 0.5 * x * (1 + std::tanh(kTanhScale * (x + kTanhCubic * x * x * x)));
    case Activation::kGeluQuick:
      return x * Sigmoid(kQuickScale * x);
    case Activation::kSilu:
      return x * Sigmoid(x);
    case Activation::kRelu:
      return x > 0 ? x : 0;
    case Activation::kTanh:
      return std::tanh(x);
  }
  return x;
}

double ActivateGradient(Activation kind, double x) {
  switch (kind) {
    case Activation::kNone:
      return 1;
    case Activation::kGeluErf:
      return NormalCdf(x) + x * NormalPdf(x);
    case Activation::kGeluTanh: {
      const double t = std::tanh(kTanhScale * (x + kTanhCubic * x * x * x));
      return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * kTanhScale * (1 + 3 * kTanhCubic * x * x);
    }
    case Activation::kGeluQuick: {
      const double s = Sigmoid(kQuickScale * x);
      return s + kQuickScale * x * s * (1 - s);
    }
    case Activation::kSilu: {
      const double s = Sigmoid(x);
      return s + x * s * (1 - s);
    }
    case Activation::kRelu:
      return x > 0 ? 1 : 0;
    case Activation::kTanh: {
      const double t = std::tanh(x);
      return 1 - t * t;
    }
  }
  return 1;
}

RowStatistics NormStatistics(NormKind kind, const double* x, int64_t k, double eps) {
  RowStatistics out;
  if (kind == NormKind::kNone) return out;
  if (kind == NormKind::kLayer) {
    for (int64_t i = 0; i < k; ++i) out.mean += x[i];
    out.mean /= static_cast<double>(k);
  }
  double squares = 0;
  for (int64_t i = 0; i < k; ++i) squares += (x[i] - out.mean) * (x[i] - out.mean);
  out.scale = 1 / std::sqrt(squares / static_cast<double>(k) + eps);
  return out;
}

void NormalizeRow(NormKind kind, const double* x, int64_t k, const double* gamma,
                  const double* beta, double eps, double* out) {
  const RowStatistics statistics = NormStatistics(kind, x, k, eps);
  for (int64_t i = 0; i < k; ++i) {
    const double y = (x[i] - statistics.mean) * statistics.scale * (gamma ? gamma[i] : 1);
    out[i] = y + (beta ? beta[i] : 0);
  }
}

void RoundForProduct(DType dtype, int64_t k, double* x) {
  if (Info(dtype).row_bytes == 0) return;
  constexpr float kSteps = 253, kLeast = 1e-30f;
  float below = 0, above = 0, none = 0;  // `none` is NaN where an element is not finite
  for (int64_t i = 0; i < k; ++i) {
    const float value = static_cast<float>(x[i]);
    below = std::max(below, -value);
    above = std::max(above, value);
    none += value * 0;
  }
  const float range = below + above;
  const float inverse = range < kLeast ? 0 : kSteps / range;
  const float scale = (range < kLeast ? 0 : range / kSteps) + none;
  for (int64_t i = 0; i < k; ++i)
    x[i] = static_cast<double>(scale) *
           static_cast<double>(std::nearbyint(static_cast<float>(x[i]) * inverse));
}

void NormGradientRow(NormKind kind, const double* dy, const double* x, int64_t k,
                     const double* gamma, double eps, double* dx, double* dgamma) {
  const RowStatistics statistics = NormStatistics(kind, x, k, eps);
  double mean = 0, along = 0;  // of dy * gamma, and of its part along the normalised row
  for (int64_t i = 0; i < k; ++i) {
    const double normal = (x[i] - statistics.mean) * statistics.scale;
    dgamma[i] += dy[i] * normal;
    mean += dy[i] * gamma[i] / static_cast<double>(k);
    along += dy[i] * gamma[i] * normal / static_cast<double>(k);
  }
  if (kind != NormKind::kLayer) mean = 0;
  for (int64_t i = 0; i < k; ++i) {
    const double normal = (x[i] - statistics.mean) * statistics.scale;
    dx[i] = statistics.scale * (dy[i] * gamma[i] - mean - normal * along);
  }
}

void SoftmaxRow(double* x, int64_t k) {
  double largest = -INFINITY, sum = 0;
  for (int64_t i = 0; i < k; ++i) largest = std::max(largest, x[i]);
  if (largest == -INFINITY) return std::fill(x, x + k, 0.0);
  for (int64_t i = 0; i < k; ++i) sum += x[i] = std::exp(x[i] - largest);
  for (int64_t i = 0; i < k; ++i) x[i] /= sum;
}

void SoftmaxGradientRow(const double* dy, const double* y, int64_t k, double* dx) {
  double along = 0;
  for (int64_t i = 0; i < k; ++i) along += dy[i] * y[i];
  for (int64_t i = 0; i < k; ++i) dx[i] = y[i] * (dy[i] - along);
}

void RotateHead(const double* angles, int64_t rotary_dim, bool back, double* head) {
  const int64_t half = rotary_dim / 2;
  for (int64_t i = 0; i < half; ++i) {
    const double c = angles[i], s = back ? -angles[half + i] : angles[half + i];
    const double a = head[i], b = head[half + i];
    head[i] = a * c - b * s;
    head[half + i] = b * c + a * s;
  }
}

Result<int64_t> RowIndex(std::string_view op, double index, int64_t rows) {
  if (!(index >= 0 && index < static_cast<double>(rows)))
    return OutOfRangeError("[{}] index {} is outside of [0, {})", op, index, rows);
  return static_cast<int64_t>(index);
}

KeyRange VisibleKeys(bool causal, int64_t window, int64_t query, int64_t keys) {
  const int64_t end = causal ? std::min(query + 1, keys) : keys;
  const int64_t begin = causal && window > 0 ? std::max<int64_t>(0, end - window) : 0;
  return {begin, end};
}

}  // namespace tboost
