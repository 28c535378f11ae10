// Activations (their accuracy is tested in simd/), sums, products and softmax.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "src/base/random.h"
#include "src/kernels/kernels_testing.h"

namespace tboost::kernels {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kUntouched = -7;

std::vector<float> Normals(size_t n, float scale, uint64_t seed) {
  std::vector<float> values(n);
  const HashRandom random(seed, "elementwise");
  for (size_t i = 0; i < n; ++i) values[i] = random.Normal(i) * scale;
  return values;
}

TEST(Activation, EveryKindOnEveryInstructionSet) {
  for (int kind = 0; kind <= static_cast<int>(Activation::kTanh); ++kind) {
    for (int64_t k : {1, 15, 16, 50}) {
      ActivationArgs args;
      args.m = 3;
      args.k = k;
      args.ldx = k + 2;
      args.ldo = k + 1;
      args.activation = static_cast<Activation>(kind);
      const std::vector<float> x = Normals(args.m * args.ldx, 3, 1);
      args.x = x.data();
      std::vector<float> first;
      for (const KernelTable* table : TestedTables()) {
        std::vector<float> out(args.m * args.ldo, kUntouched);
        args.out = out.data();
        RunKernel(table->activation, args);
        for (int64_t r = 0; r < args.m; ++r) EXPECT_EQ(out[r * args.ldo + k], kUntouched);
        if (first.empty()) first = out;
        for (size_t i = 0; i < out.size(); ++i) {
          EXPECT_NEAR(out[i], first[i], 1e-6 + 5e-7 * std::abs(first[i])) << table->name << kind;
        }
      }
      const double silu = x[0] / (1 + std::exp(-double{x[0]}));
      if (args.activation == Activation::kSilu) {
        EXPECT_NEAR(first[0], silu, 1e-6);
      }
      if (args.activation == Activation::kRelu) {
        EXPECT_EQ(first[0], x[0] > 0 ? x[0] : 0);
      }
    }
  }
}

TEST(Activation, FusedInstructionSetsGiveEqualBits) {
  const std::vector<const KernelTable*> tables = TablesOfEqualBits();
  if (tables.empty()) GTEST_SKIP() << "NOT RUN: no AVX-512";
  const std::vector<float> x = Normals(20000, 8, 2);
  for (int kind = 0; kind <= static_cast<int>(Activation::kTanh); ++kind) {
    ActivationArgs args;
    args.m = 1;
    args.k = static_cast<int64_t>(x.size());
    args.activation = static_cast<Activation>(kind);
    args.x = x.data();
    std::vector<float> out[2] = {x, x};
    for (int i = 0; i < 2; ++i) {
      args.out = out[i].data();
      RunKernel(tables[i]->activation, args);
    }
    EXPECT_EQ(out[0], out[1]) << kind;
  }
}

TEST(Binary, SumsAndProductsOfRowsAndOfOneRowForAll) {
  for (int64_t k : {1, 16, 37}) {
    for (bool multiply : {false, true}) {
      for (bool one_row : {false, true}) {
        BinaryArgs args;
        args.m = 4;
        args.k = k;
        args.ldx = k;
        args.ldy = one_row ? 0 : k + 3;
        args.ldo = k + 1;
        args.multiply = multiply;
        const std::vector<float> x = Normals(args.m * k, 1, 3), y = Normals(args.m * (k + 3), 1, 4);
        args.x = x.data();
        args.y = y.data();
        for (const KernelTable* table : TestedTables()) {
          std::vector<float> out(args.m * args.ldo, kUntouched);
          args.out = out.data();
          RunKernel(table->binary, args);
          for (int64_t r = 0; r < args.m; ++r) {
            for (int64_t i = 0; i < k; ++i) {
              const float a = x[r * k + i], b = y[r * args.ldy + i];
              EXPECT_EQ(out[r * args.ldo + i], multiply ? a * b : a + b) << table->name;
            }
            EXPECT_EQ(out[r * args.ldo + k], kUntouched);
          }
        }
      }
    }
  }
}

TEST(Softmax, EqualsTheReferenceOnEveryInstructionSet) {
  for (int64_t k : {1, 2, 16, 31, 64, 1000}) {
    for (float scale : {1.0f, 50.0f, 1e4f}) {
      SoftmaxArgs args;
      args.m = 3;
      args.k = args.ldx = k;
      args.ldo = k + 1;
      std::vector<float> x = Normals(args.m * k, scale, 5);
      if (k > 2) x[1] = -kInfinity;
      args.x = x.data();
      for (const KernelTable* table : TestedTables()) {
        std::vector<float> out(args.m * args.ldo, kUntouched);
        args.out = out.data();
        RunKernel(table->softmax, args);
        for (int64_t r = 0; r < args.m; ++r) {
          double max = -kInfinity, sum = 0;
          for (int64_t i = 0; i < k; ++i) max = std::max(max, double{x[r * k + i]});
          for (int64_t i = 0; i < k; ++i) sum += std::exp(x[r * k + i] - max);
          for (int64_t i = 0; i < k; ++i) {
            ASSERT_NEAR(out[r * args.ldo + i], std::exp(x[r * k + i] - max) / sum, 5e-7)
                << table->name;
          }
          EXPECT_EQ(out[r * args.ldo + k], kUntouched);
        }
      }
    }
  }
}

TEST(Softmax, ARowOfMinusInfinityIsZeroAndNaNSpreads) {
  for (const KernelTable* table : TestedTables()) {
    std::vector<float> x(40, -kInfinity);
    x[25] = std::nanf("");
    SoftmaxArgs args;
    args.m = 2;
    args.k = args.ldx = args.ldo = 20;
    args.x = args.out = x.data();  // in place
    RunKernel(table->softmax, args);
    for (int i = 0; i < 20; ++i) {
      EXPECT_EQ(x[i], 0) << table->name;
      EXPECT_TRUE(std::isnan(x[20 + i])) << table->name;
    }
  }
}

}  // namespace
}  // namespace tboost::kernels
