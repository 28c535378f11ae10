// Formulas in double that several references share.
#pragma once

#include <cstdint>

#include <string_view>

#include "src/base/status.h"
#include "src/kernels/kernels.h"

namespace tboost {

// activation(x) and its derivative.
double Activate(kernels::Activation kind, double x);
double ActivateGradient(kernels::Activation kind, double x);

// Mean (0 for rms) and 1 / sqrt(variance + eps) of a row.
struct RowStatistics {
  double mean = 0, scale = 1;
};
RowStatistics NormStatistics(kernels::NormKind kind, const double* x, int64_t k, double eps);

// out = norm(x) * gamma + beta for one row (kernels.h: Norm); gamma and beta may be null, out may
// be x.
void NormalizeRow(kernels::NormKind kind, const double* x, int64_t k, const double* gamma,
                  const double* beta, double eps, double* out);

// A row as a product with weights of `dtype` sees it: as it is, or with int8 and int7 rounded to 8
// bits by one scale (kernels.h: GemmInt8Args). Rounds as the kernels do, in f32.
void RoundForProduct(DType dtype, int64_t k, double* x);

// The gradient of one row: dx is set, dgamma is added to.
void NormGradientRow(kernels::NormKind kind, const double* dy, const double* x, int64_t k,
                     const double* gamma, double eps, double* dx, double* dgamma);

// Softmax over x[0, k), in place; all zeros where every element is -infinity.
void SoftmaxRow(double* x, int64_t k);

// Its gradient from the result y; dx may be dy.
void SoftmaxGradientRow(const double* dy, const double* y, int64_t k, double* dx);

// Rotates the pairs (i, i + rotary_dim / 2) of one head by angles (cos of each pair, then sin), or
// back.
void RotateHead(const double* angles, int64_t rotary_dim, bool back, double* head);

// An element of an i32 tensor as a row number of `rows` rows; an error of `op` where it is none.
Result<int64_t> RowIndex(std::string_view op, double index, int64_t rows);

// The keys [begin, end) that the query at position `query` of `keys` keys sees.
struct KeyRange {
  int64_t begin, end;
};
KeyRange VisibleKeys(bool causal, int64_t window, int64_t query, int64_t keys);

}  // namespace tboost
