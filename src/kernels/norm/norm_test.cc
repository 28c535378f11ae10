#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "src/base/random.h"
#include "src/kernels/kernels_testing.h"

namespace tboost::kernels {
namespace {

constexpr int kGap = 5;  // between rows; must stay as it is

// A case: rows of k numbers with a stride, and what norm makes of them.
struct Rows {
  Rows(int64_t m, int64_t k, float scale, float offset)
      : m(m), k(k), x(m * (k + kGap)), residual(x.size()), gamma(k), beta(k) {
    const HashRandom random(3, "norm");
    for (size_t i = 0; i < x.size(); ++i) {
      x[i] = random.Normal(i) * scale + offset;
      residual[i] = random.Normal(i + x.size());
    }
    for (int64_t i = 0; i < k; ++i) {
      gamma[i] = 1 + random.Uniform(i) / 2;
      beta[i] = random.Uniform(i + k);
    }
  }

  NormArgs Args(NormKind kind) const {
    NormArgs args;
    args.m = m;
    args.k = k;
    args.x = x.data();
    args.ldx = args.ldr = args.ldo = args.lds = k + kGap;
    args.norm = {kind, gamma.data(), kind == NormKind::kLayer ? beta.data() : nullptr, 1e-5f};
    return args;
  }

  std::vector<double> Expected(NormKind kind, bool add, int64_t row) const {
    std::vector<double> y(k);
    for (int64_t i = 0; i < k; ++i) {
      // The sum is one of f32.
      const int64_t at = row * (k + kGap) + i;
      y[i] = add ? x[at] + residual[at] : x[at];
    }
    double mean = 0, variance = 0;
    for (double value : y) mean += value / static_cast<double>(k);
    if (kind == NormKind::kRms) mean = 0;
    for (double value : y) variance += (value - mean) * (value - mean) / static_cast<double>(k);
    for (int64_t i = 0; i < k; ++i) {
      y[i] = (y[i] - mean) / std::sqrt(variance + double{1e-5f}) * gamma[i];
      if (kind == NormKind::kLayer) y[i] += beta[i];
    }
    return y;
  }

  int64_t m, k;
  std::vector<float> x, residual, gamma, beta;
};

TEST(Norm, EqualsTheReferenceOnEveryInstructionSet) {
  for (int64_t k : {1, 3, 16, 17, 63, 64, 384, 577}) {
    for (NormKind kind : {NormKind::kLayer, NormKind::kRms}) {
      for (bool add : {false, true}) {
        const Rows rows(7, k, 2, 0.5f);
        for (const KernelTable* table : TestedTables()) {
          std::vector<float> out(rows.x.size(), -7.0f), sum = out;
          NormArgs args = rows.Args(kind);
          args.out = out.data();
          if (add) args.residual = rows.residual.data();
          if (add && k % 2) args.sum = sum.data();
          RunKernel(table->norm, args);
          for (int64_t r = 0; r < rows.m; ++r) {
            const std::vector<double> want = rows.Expected(kind, add, r);
            for (int64_t i = 0; i < k + kGap; ++i) {
              const int64_t at = r * (k + kGap) + i;
              const double tolerance = 2e-6 * (1 + std::abs(i < k ? want[i] : 0));
              ASSERT_NEAR(out[at], i < k ? want[i] : -7, tolerance) << table->name << " k " << k;
              const float added = rows.x[at] + rows.residual[at];
              ASSERT_EQ(sum[at], args.sum && i < k ? added : -7);
            }
          }
        }
      }
    }
  }
}

TEST(Norm, OutliersAndOffsetsDoNotCancel) {
  Rows rows(2, 768, 1, 1000);  // a large common offset
  rows.x[rows.k + kGap + 100] = 6e4f;
  for (const KernelTable* table : TestedTables()) {
    std::vector<float> out(rows.x.size());
    NormArgs args = rows.Args(NormKind::kLayer);
    args.out = out.data();
    RunKernel(table->norm, args);
    for (int64_t r = 0; r < rows.m; ++r) {
      const std::vector<double> want = rows.Expected(NormKind::kLayer, false, r);
      for (int64_t i = 0; i < rows.k; ++i) {
        ASSERT_NEAR(out[r * (rows.k + kGap) + i], want[i], 2e-4 * (1 + std::abs(want[i])));
      }
    }
  }
}

TEST(Norm, WorksInPlaceAndRowByRow) {
  const Rows rows(70, 300, 1, 0);  // several tasks
  ASSERT_GT(Tasks(rows.Args(NormKind::kLayer)), 1);
  for (const KernelTable* table : TestedTables()) {
    std::vector<float> out(rows.x.size()), x = rows.x;
    NormArgs args = rows.Args(NormKind::kLayer);
    args.residual = rows.residual.data();
    args.out = out.data();
    RunKernel(table->norm, args);
    // x becomes the sum, and the result goes over the residual's copy.
    std::vector<float> residual = rows.residual;
    args.x = args.sum = x.data();
    args.residual = args.out = residual.data();
    RunKernel(table->norm, args);
    for (int64_t r = 0; r < rows.m; ++r) {
      const int64_t at = r * (rows.k + kGap);
      EXPECT_EQ(std::memcmp(&out[at], &residual[at], rows.k * sizeof(float)), 0) << table->name;
      NormArgs one = rows.Args(NormKind::kLayer);
      std::vector<float> alone(rows.k);
      one.m = 1;
      one.x = rows.x.data() + at;
      one.residual = rows.residual.data() + at;
      one.out = alone.data();
      RunKernel(table->norm, one);
      EXPECT_EQ(std::memcmp(&out[at], alone.data(), rows.k * sizeof(float)), 0) << table->name;
    }
  }
}

TEST(Norm, ZeroRowsStayFinite) {
  const std::vector<float> x(40), gamma(40, 1.0f);
  for (const KernelTable* table : TestedTables()) {
    std::vector<float> out(40, -7.0f);
    NormArgs args;
    args.m = 1;
    args.k = 40;
    args.x = x.data();
    args.out = out.data();
    args.norm = {NormKind::kRms, gamma.data(), nullptr, 1e-6f};
    RunKernel(table->norm, args);
    for (float value : out) EXPECT_EQ(value, 0);
  }
}

}  // namespace
}  // namespace tboost::kernels
