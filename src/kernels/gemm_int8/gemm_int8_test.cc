#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "src/base/random.h"
#include "src/kernels/gemm/gemm_testing.h"
#include "src/kernels/kernels_testing.h"

namespace tboost::kernels {
namespace {

constexpr int kCodesAt = 8;  // of a row of weights, behind its scale and the sum of its codes
constexpr DType kFormats[] = {DType::kInt8, DType::kInt7};

using Shape = ProductShape;

// A product with its operands; none of the optional ones is in use yet.
struct Problem : ProductOperands {
  GemmInt8Args args;
  std::vector<char> rows, panels;  // of W
};

Problem MakeProblem(DType dtype, Shape shape) {
  const int64_t n = shape.n, k = shape.k;
  Problem p;
  static_cast<ProductOperands&>(p) = DrawOperands(dtype, shape, p.args);
  const HashRandom random(1, "weights");
  const uint64_t row_bytes = *RowBytes(dtype, k);
  p.rows.resize(n * row_bytes);
  std::vector<float> row(k);
  for (int64_t r = 0; r < n; ++r) {
    for (int64_t i = 0; i < k; ++i) row[i] = random.Normal(r * k + i) * 0.1f;
    ConvertRow(row.data(), k, dtype, p.rows.data() + r * row_bytes);
  }
  p.panels.resize(*PackedBytes(dtype, n, k));
  PackPanels(dtype, p.rows.data(), n, k, p.panels.data());
  return p;
}

std::vector<float> Product(const KernelTable& table, Problem& p) {
  return RunProduct(table.gemm_int8, p.panels, p, p.args);
}

// The product by its definition: codes of the row, an exact sum, f32 scales.
std::vector<float> Expected(const Problem& p) {
  const GemmInt8Args& args = p.args;
  std::vector<float> c(p.c.size(), -77.0f);
  const auto row_bytes = static_cast<int64_t>(*RowBytes(args.weight_dtype, args.k));
  for (int64_t r = 0; r < args.m; ++r) {
    const float* x = p.a.data() + r * args.lda;
    const float least = std::min(0.0f, *std::min_element(x, x + args.k));
    const float largest = std::max(0.0f, *std::max_element(x, x + args.k));
    const float scale = (largest - least) / 253, inverse = 253 / (largest - least);
    for (int64_t j = 0; j < args.n; ++j) {
      const char* row = p.rows.data() + j * row_bytes;
      float column_scale;
      std::memcpy(&column_scale, row, sizeof column_scale);
      int64_t sum = 0;
      for (int64_t i = 0; i < args.k; ++i)
        sum += std::lrint(x[i] * inverse) * static_cast<int8_t>(row[kCodesAt + i]);
      float value = static_cast<float>(static_cast<int32_t>(sum)) * (scale * column_scale);
      if (args.bias) value += args.bias[j];
      if (args.residual) value += args.residual[r * args.ldr + j];
      c[r * args.ldc + j] = value;
    }
  }
  return c;
}

std::string Name(const KernelTable& table, DType dtype, Shape shape) {
  return std::string(table.name) + " " + std::string(DTypeName(dtype)) +
         " m=" + std::to_string(shape.m) + " n=" + std::to_string(shape.n) +
         " k=" + std::to_string(shape.k);
}

class GemmInt8 : public testing::TestWithParam<DType> {
 protected:
  // Calls check(table) for every instruction set that has code of its own.
  template <class F>
  void ForEachTable(const F& check) {
    for (const KernelTable* table : TestedTables(&KernelTable::gemm_int8)) check(*table);
  }
};

TEST_P(GemmInt8, IsExactAtEverySize) {
  std::vector<Shape> shapes;
  for (const int64_t m : {1, 2, 3, 4, 5, 6, 7, 12, 13, 14, 15, 27, 28, 29, 100})
    shapes.push_back({m, m > 16 ? 48 : 80, 96});
  for (const int64_t n : {1, 2, 15, 16, 17, 31, 33, 64, 79, 150}) shapes.push_back({5, n, 64});
  for (const int64_t k : {1, 2, 3, 4, 5, 63, 64, 65, 127, 130, 600}) shapes.push_back({7, 40, k});
  for (const Shape shape : shapes) {
    Problem p = MakeProblem(GetParam(), shape);
    p.args.bias = p.bias.data();
    p.args.residual = p.residual.data();
    const std::vector<float> expected = Expected(p);
    ForEachTable([&](const KernelTable& table) {
      ASSERT_EQ(Product(table, p), expected) << Name(table, GetParam(), shape);
    });
  }
}

// Sums of the largest codes, all of one sign, over the longest k.
TEST_P(GemmInt8, LongestSumsDoNotOverflow) {
  Problem p = MakeProblem(GetParam(), {2, 17, kMostInt8K});
  const auto code = static_cast<char>(Info(GetParam()).largest_code);
  const uint64_t row_bytes = *RowBytes(GetParam(), kMostInt8K);
  for (int64_t r = 0; r < p.args.n; ++r) {
    char* row = p.rows.data() + r * row_bytes;
    const int32_t sum = static_cast<int32_t>(kMostInt8K) * (r % 2 ? code : -code);
    std::memcpy(row + kCodesAt - sizeof sum, &sum, sizeof sum);
    std::memset(row + kCodesAt, r % 2 ? code : -code, kMostInt8K);
  }
  PackPanels(GetParam(), p.rows.data(), p.args.n, p.args.k, p.panels.data());
  std::fill(p.a.begin(), p.a.begin() + p.args.lda, 3.0f);
  std::fill(p.a.begin() + p.args.lda, p.a.end(), -3.0f);
  const std::vector<float> expected = Expected(p);
  ForEachTable([&](const KernelTable& table) { EXPECT_EQ(Product(table, p), expected); });
}

// A norm within is the norm kernel before.
TEST_P(GemmInt8, NormsHaveTheBitsOfTheNormKernel) {
  for (const NormKind kind : {NormKind::kLayer, NormKind::kRms}) {
    for (const int64_t k : {37, 64, 200}) {
      ForEachTable([&](const KernelTable& table) {
        Problem p = MakeProblem(GetParam(), {9, 33, k});
        NormArgs norm;
        norm.m = p.args.m, norm.k = k;
        norm.x = p.a.data(), norm.ldx = p.args.lda;
        norm.norm = {kind, p.gamma.data(), kind == NormKind::kLayer ? p.beta.data() : nullptr,
                     1e-5f};
        Problem normed = p;
        norm.out = normed.a.data(), norm.ldo = p.args.lda;
        RunKernel(table.norm, norm);
        p.args.norm = norm.norm;
        ASSERT_EQ(Product(table, p), Product(table, normed)) << Name(table, GetParam(), {9, 33, k});
      });
    }
  }
}

TEST_P(GemmInt8, GatesAndActivations) {
  ForEachTable([&](const KernelTable& table) {
    Problem p = MakeProblem(GetParam(), {15, 96, 40});
    p.args.bias = p.bias.data();
    const std::vector<float> sums = Product(table, p);
    p.args.gated = true;
    p.args.tile_m = 0;
    p.args.activation = Activation::kSilu;
    p.args.residual = p.residual.data();
    const std::vector<float> gated = Product(table, p);
    for (int64_t r = 0; r < p.args.m; ++r) {
      for (int64_t j = 0; j < 48; ++j) {
        const float* sum = sums.data() + r * p.args.ldc + j / 16 * 32 + j % 16;
        const double gate = sum[0], up = sum[16];
        const double expected =
            gate / (1 + std::exp(-gate)) * up + static_cast<double>(p.residual[r * p.args.ldr + j]);
        ASSERT_NEAR(gated[r * p.args.ldc + j], expected, 1e-6 * (1 + std::abs(gate * up)));
      }
      ASSERT_EQ(gated[r * p.args.ldc + 48], -77.0f);
    }
  });
}

TEST_P(GemmInt8, RowsOfZerosAndRowsThatAreNotFinite) {
  ForEachTable([&](const KernelTable& table) {
    Problem p = MakeProblem(GetParam(), {5, 20, 70});
    p.args.bias = p.bias.data();
    const auto row = [&](int64_t r) { return p.a.data() + r * p.args.lda; };
    std::fill(row(0), row(0) + 70, 0.0f);
    std::fill(row(1), row(1) + 70, 1e-40f);
    row(2)[69] = std::nanf("");
    row(3)[1] = -INFINITY;
    const std::vector<float> c = Product(table, p);
    for (int64_t j = 0; j < p.args.n; ++j) {
      EXPECT_EQ(c[j], p.bias[j]);
      EXPECT_EQ(c[p.args.ldc + j], p.bias[j]);
      EXPECT_TRUE(std::isnan(c[2 * p.args.ldc + j]));
      EXPECT_TRUE(std::isnan(c[3 * p.args.ldc + j]));
      EXPECT_TRUE(std::isfinite(c[4 * p.args.ldc + j]));
    }
  });
}

// Whole, in other tiles, each row alone: always the same bits.
TEST_P(GemmInt8, ARowHasTheBitsOfThatRowAlone) {
  ForEachTable([&](const KernelTable& table) {
    const Shape shape = {37, 96, 160};
    Problem p = MakeProblem(GetParam(), shape);
    p.args.norm = {NormKind::kRms, p.gamma.data(), nullptr, 1e-6f};
    p.args.gated = true;
    p.args.activation = Activation::kGeluTanh;
    const std::vector<float> whole = Product(table, p);
    for (const Shape tile : {Shape{1, 32, 0}, Shape{5, 96, 0}, Shape{14, 64, 0}}) {
      p.args.tile_m = tile.m;
      p.args.tile_n = tile.n;
      ASSERT_EQ(Product(table, p), whole) << Name(table, GetParam(), shape) << " tile " << tile.m;
    }
    for (int64_t r = 0; r < shape.m; r += 6) {
      Problem alone = p;
      alone.args.norm.gamma = alone.gamma.data();
      alone.a.assign(p.a.begin() + r * p.args.lda, p.a.begin() + (r + 1) * p.args.lda);
      alone.args.m = 1;
      alone.args.tile_m = 0;
      const std::vector<float> row = Product(table, alone);
      ASSERT_TRUE(std::equal(row.begin(), row.begin() + 48, whole.begin() + r * p.args.ldc))
          << Name(table, GetParam(), shape) << " row " << r;
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Formats, GemmInt8, testing::ValuesIn(kFormats),
                         [](const auto& info) { return std::string(DTypeName(info.param)); });

TEST(GemmInt8Tile, NothingToDoIsNoTask) {
  for (const Shape shape : {Shape{0, 48, 32}, Shape{3, 0, 32}}) {
    GemmInt8Args args;
    args.m = shape.m, args.n = shape.n, args.k = shape.k;
    ChooseTile(args, 2, 1 << 20);
    EXPECT_EQ(Tasks(args), 0);
  }
}

}  // namespace
}  // namespace tboost::kernels
