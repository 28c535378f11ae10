#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "src/base/checked.h"
#include "src/base/random.h"
#include "src/kernels/gemm/gemm_testing.h"
#include "src/kernels/kernels_testing.h"
#include "src/tensor/float16.h"

namespace tboost::kernels {
namespace {

constexpr DType kFormats[] = {DType::kF32,  DType::kF16,  DType::kBF16, DType::kQ8_0, DType::kQ4_0,
                              DType::kQ4_1, DType::kQ5_0, DType::kQ4_K, DType::kQ6_K};

using Shape = ProductShape;

// What a product computes, with its operands owned; none of the optional ones is in use yet.
struct Problem : ProductOperands {
  GemmArgs args;
  std::vector<float> weights;  // [n, k] as the format says
  std::vector<char> panels;

  int64_t width() const { return args.gated ? args.n / 2 : args.n; }
};

// Rows of random bytes whose f16 scales are small numbers, so that the values are like weights.
std::vector<char> RandomRows(DType dtype, int64_t n, int64_t k) {
  const HashRandom random(1, "weights");
  const DTypeInfo& info = Info(dtype);
  std::vector<char> rows(static_cast<size_t>(n) * *StorageBytes(dtype, k));
  if (!info.quantised()) {
    std::vector<float> row(k);
    for (int64_t r = 0; r < n; ++r) {
      for (int64_t i = 0; i < k; ++i) row[i] = random.Normal(r * k + i) * 0.1f;
      ConvertRow(row.data(), k, dtype, rows.data() + r * *StorageBytes(dtype, k));
    }
    return rows;
  }
  for (size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<char>(random.Bits(i));
  for (size_t block = 0; block < rows.size() / info.block_bytes; ++block) {
    char* bytes = rows.data() + block * info.block_bytes;
    const uint16_t d = FloatToF16(random.Normal(2 * block) * 0.01f);
    const uint16_t m = FloatToF16(random.Normal(2 * block + 1) * 0.05f);
    std::memcpy(dtype == DType::kQ6_K ? bytes + 208 : bytes, &d, sizeof d);
    if (dtype == DType::kQ4_1 || dtype == DType::kQ4_K) std::memcpy(bytes + 2, &m, sizeof m);
  }
  return rows;
}

Problem MakeProblem(DType dtype, Shape shape) {
  const int64_t n = shape.n, k = shape.k;
  Problem p;
  static_cast<ProductOperands&>(p) = DrawOperands(dtype, shape, p.args);
  const std::vector<char> rows = RandomRows(dtype, n, k);
  p.weights.resize(n * k);
  const uint64_t row_bytes = *StorageBytes(dtype, k);
  for (int64_t r = 0; r < n; ++r)
    DequantizeRow(dtype, rows.data() + r * row_bytes, k, p.weights.data() + r * k);
  p.panels.resize(*PackedBytes(dtype, n, k));
  PackPanels(dtype, rows.data(), n, k, p.panels.data());
  return p;
}

std::vector<float> Product(const KernelTable& table, Problem& p) {
  return RunProduct(table.gemm, p.panels, p, p.args);
}

double ReferenceActivation(Activation activation, double x) {
  switch (activation) {
    case Activation::kNone:
      return x;
    case Activation::kGeluErf:
      return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0)));
    case Activation::kGeluTanh:
      return 0.5 * x * (1 + std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
    case Activation::kGeluQuick:
      return x / (1 + std::exp(-1.702 * x));
    case Activation::kSilu:
      return x / (1 + std::exp(-x));
    case Activation::kRelu:
      return x > 0 ? x : 0;
    case Activation::kTanh:
      return std::tanh(x);
  }
  return x;
}

std::vector<double> ReferenceRow(const Problem& p, int64_t r) {
  const GemmArgs& args = p.args;
  const int64_t k = args.k;
  std::vector<double> row(p.a.begin() + r * args.lda, p.a.begin() + r * args.lda + k);
  if (args.norm.kind == NormKind::kNone) {
    if (args.round_rows)
      for (double& x : row) x = double{BF16ToFloat(FloatToBF16(static_cast<float>(x)))};
    return row;
  }
  double mean = 0, squares = 0;
  if (args.norm.kind == NormKind::kLayer) {
    for (double x : row) mean += x / static_cast<double>(k);
  }
  for (double x : row) squares += (x - mean) * (x - mean) / static_cast<double>(k);
  for (int64_t i = 0; i < k; ++i) {
    row[i] = (row[i] - mean) / std::sqrt(squares + static_cast<double>(args.norm.eps));
    if (args.norm.gamma) row[i] *= static_cast<double>(args.norm.gamma[i]);
    if (args.norm.beta) row[i] += static_cast<double>(args.norm.beta[i]);
  }
  return row;
}

// Compares c with the formula in double; the bound is of the rounding of a chain of k terms.
void ExpectRight(const Problem& p, const std::vector<float>& c, const std::string& what) {
  const GemmArgs& args = p.args;
  for (int64_t r = 0; r < args.m; ++r) {
    const std::vector<double> row = ReferenceRow(p, r);
    std::vector<double> sum(args.n, 0), magnitude(args.n, 0);
    for (int64_t j = 0; j < args.n; ++j) {
      for (int64_t i = 0; i < args.k; ++i) {
        const double term = row[i] * static_cast<double>(p.weights[j * args.k + i]);
        sum[j] += term;
        magnitude[j] += std::abs(term);
      }
      if (args.bias) sum[j] += static_cast<double>(args.bias[j]);
      magnitude[j] += std::abs(sum[j]);
    }
    for (int64_t j = 0; j < args.ldc; ++j) {
      const float got = c[r * args.ldc + j];
      if (j >= p.width()) {
        ASSERT_EQ(got, -77.0f) << what << ": wrote past row " << r << " to column " << j;
        continue;
      }
      const int64_t column = args.gated ? j / 16 * 32 + j % 16 : j;
      double expected = ReferenceActivation(args.activation, sum[column]);
      double bound = magnitude[column];
      if (args.gated) {
        bound = bound * std::abs(sum[column + 16]) + std::abs(expected) * magnitude[column + 16];
        expected *= sum[column + 16];
      }
      if (args.residual) expected += static_cast<double>(args.residual[r * args.ldr + j]);
      ASSERT_NEAR(got, expected, 2e-6 * bound + 2e-6 * std::abs(expected) + 1e-6)
          << what << " row " << r << " column " << j;
    }
  }
}

std::string Name(const KernelTable& table, DType dtype, Shape shape) {
  return std::string(table.name) + " " + std::string(DTypeName(dtype)) +
         " m=" + std::to_string(shape.m) + " n=" + std::to_string(shape.n) +
         " k=" + std::to_string(shape.k);
}

bool Fits(DType dtype, int64_t k) { return PanelBytes(dtype, k).has_value(); }

TEST(Gemm, EveryFormatAtEveryRowCount) {
  for (const KernelTable* table : TestedTables()) {
    for (const DType dtype : kFormats) {
      for (const int64_t m : {1, 2, 3, 4, 5, 6, 7, 13, 14, 15, 16, 28, 29, 33, 100}) {
        const Shape shape = {m, m > 16 ? 48 : 80, 256};
        Problem p = MakeProblem(dtype, shape);
        ExpectRight(p, Product(*table, p), Name(*table, dtype, shape));
      }
    }
  }
}

TEST(Gemm, EveryColumnCount) {
  for (const KernelTable* table : TestedTables()) {
    for (const DType dtype : {DType::kF32, DType::kQ4_1}) {
      for (const int64_t m : {1, 9}) {
        for (const int64_t n : {1, 2, 15, 16, 17, 31, 33, 64, 79, 150}) {
          const Shape shape = {m, n, 64};
          Problem p = MakeProblem(dtype, shape);
          ExpectRight(p, Product(*table, p), Name(*table, dtype, shape));
        }
      }
    }
  }
}

TEST(Gemm, EveryLengthOfK) {
  for (const KernelTable* table : TestedTables()) {
    for (const DType dtype : kFormats) {
      for (const int64_t m : {1, 3, 8}) {
        for (const int64_t k : {1, 2, 31, 32, 33, 65, 96, 255, 256, 257, 288, 512, 600, 768}) {
          if (!Fits(dtype, k)) continue;
          const Shape shape = {m, 40, k};
          Problem p = MakeProblem(dtype, shape);
          ExpectRight(p, Product(*table, p), Name(*table, dtype, shape));
        }
      }
    }
  }
}

TEST(Gemm, EpiloguesAndNorms) {
  for (const KernelTable* table : TestedTables()) {
    for (const Activation activation :
         {Activation::kNone, Activation::kGeluErf, Activation::kGeluTanh, Activation::kGeluQuick,
          Activation::kSilu, Activation::kRelu, Activation::kTanh}) {
      for (const bool gated : {false, true}) {
        for (int options = 0; options < 12; ++options) {
          const Shape shape = {options % 2 ? 3 : 8, gated ? 96 : 41, options % 3 ? 72 : 300};
          Problem p = MakeProblem(DType::kF32, shape);
          p.args.activation = activation;
          p.args.gated = gated;
          if (options & 1) p.args.bias = p.bias.data();
          if (options & 2) p.args.residual = p.residual.data();
          p.args.norm.kind = static_cast<NormKind>(options / 4);
          p.args.norm.eps = 1e-5f;
          if (options & 1) p.args.norm.gamma = p.gamma.data();
          if (options & 2) p.args.norm.beta = p.beta.data();
          ExpectRight(p, Product(*table, p),
                      Name(*table, DType::kF32, shape) + " options " + std::to_string(options));
        }
      }
    }
  }
}

TEST(Gemm, ResidualMayBeTheOutput) {
  for (const KernelTable* table : TestedTables()) {
    Problem p = MakeProblem(DType::kF32, {9, 50, 300});
    p.args.ldr = p.args.ldc;
    p.residual.resize(9 * p.args.ldc, 1.5f);
    p.args.residual = p.residual.data();
    const std::vector<float> expected = Product(*table, p);
    p.c = p.residual;
    p.args.residual = p.args.c;
    RunKernel(table->gemm, p.args);
    for (int64_t r = 0; r < 9; ++r)
      for (int64_t j = 0; j < 50; ++j)
        ASSERT_EQ(p.c[r * p.args.ldc + j], expected[r * p.args.ldc + j]) << table->name;
  }
}

TEST(Gemm, NothingToDoIsNoTask) {
  for (const Shape shape : {Shape{0, 48, 32}, Shape{3, 0, 32}}) {
    GemmArgs args;
    args.m = shape.m, args.n = shape.n, args.k = shape.k;
    ChooseTile(args, 2, 1 << 20);
    EXPECT_EQ(Tasks(args), 0);
  }
}

TEST(Gemm, EveryRankIsAnotherTileAndThenTheLast) {
  for (const Shape shape : {Shape{1, 576, 576}, Shape{128, 768, 768}, Shape{2048, 3072, 768}}) {
    std::set<std::pair<int64_t, int64_t>> tiles;
    for (int rank = 0; rank < kTileRanks; ++rank) {
      GemmArgs args;
      args.m = shape.m, args.n = shape.n, args.k = shape.k;
      ChooseTile(args, 2, 1 << 20, rank);
      EXPECT_LE(args.tile_m, shape.m);
      EXPECT_LE(args.tile_n, shape.n);
      EXPECT_TRUE(tiles.insert({args.tile_m, args.tile_n}).second) << rank;
    }
  }
  for (int rank = 0; rank < kTileRanks; ++rank) {
    GemmArgs args;
    args.m = 1, args.n = 20, args.k = 64;
    ChooseTile(args, 1, 1 << 20, rank);
    EXPECT_EQ(args.tile_n, rank == 0 ? 32 : 16);
  }
}

// Whole, in other tiles, each row alone: always the same bits.
TEST(Gemm, ARowHasTheBitsOfThatRowAlone) {
  for (const KernelTable* table : TestedTables()) {
    for (const DType dtype : kFormats) {
      const Shape shape = {37, 96, 512};
      Problem p = MakeProblem(dtype, shape);
      p.args.norm = {NormKind::kRms, p.gamma.data(), nullptr, 1e-6f};
      p.args.gated = true;
      p.args.activation = Activation::kSilu;
      const std::vector<float> whole = Product(*table, p);
      for (const Shape tile : {Shape{1, 32, 512}, Shape{5, 96, 32}, Shape{14, 64, 512},
                               Shape{20, 64, 96}, Shape{37, 32, 256}}) {
        p.args.tile_m = tile.m;
        p.args.tile_n = tile.n;
        p.args.tile_k = tile.k;
        ASSERT_EQ(Product(*table, p), whole) << Name(*table, dtype, shape) << " tile " << tile.m;
      }
      for (int64_t r = 0; r < shape.m; r += 6) {
        Problem alone = p;
        alone.args.norm.gamma = alone.gamma.data();
        alone.a.assign(p.a.begin() + r * p.args.lda, p.a.begin() + (r + 1) * p.args.lda);
        alone.args.m = 1;
        alone.args.tile_m = 0;
        const std::vector<float> row = Product(*table, alone);
        ASSERT_TRUE(
            std::equal(row.begin(), row.begin() + p.width(), whole.begin() + r * p.args.ldc))
            << Name(*table, dtype, shape) << " row " << r;
      }
    }
  }
}

// Each count of rows has kernels of its own; all of them give a row the same bits.
TEST(Gemm, FewRowsHaveTheBitsOfMany) {
  for (const KernelTable* table : TestedTables()) {
    for (const DType dtype : kFormats) {
      for (const bool gated : {false, true}) {
        const Shape shape = {17, gated ? 96 : 104, 256};
        Problem p = MakeProblem(dtype, shape);
        p.args.gated = gated;
        p.args.bias = p.bias.data();
        const std::vector<float> all = Product(*table, p);
        for (int64_t m = 1; m < shape.m; ++m) {
          p.args.m = m;
          p.args.tile_m = 0;
          const std::vector<float> few = Product(*table, p);
          for (int64_t r = 0; r < m; ++r)
            ASSERT_TRUE(std::equal(all.begin() + r * p.args.ldc,
                                   all.begin() + r * p.args.ldc + p.width(),
                                   few.begin() + r * p.args.ldc))
                << Name(*table, dtype, {m, shape.n, shape.k}) << " row " << r;
        }
      }
    }
  }
}

// Rows rounded to bf16, of every count and length, against the formula.
TEST(Gemm, RowsInBF16) {
  for (const KernelTable* table : TestedTables(&KernelTable::gemm)) {
    for (const int64_t m : {1, 2, 13, 14, 15, 16, 17, 29, 40}) {
      for (const int64_t k : {1, 2, 31, 33, 64, 65, 127, 256, 600}) {
        const Shape shape = {m, m % 2 ? 48 : 70, k};
        Problem p = MakeProblem(DType::kBF16, shape);
        p.args.round_rows = true;
        p.args.bias = p.bias.data();
        p.args.activation = Activation::kGeluErf;
        ExpectRight(p, Product(*table, p), Name(*table, DType::kBF16, shape));
      }
    }
  }
}

// With a norm, which f32 and double may round apart: the same bits in every tile and alone, and
// about those of rows that are not rounded.
TEST(Gemm, RowsInBF16HaveTheBitsOfARowAlone) {
  for (const KernelTable* table : TestedTables(&KernelTable::gemm)) {
    Problem p = MakeProblem(DType::kBF16, {37, 96, 301});
    p.args.norm = {NormKind::kLayer, p.gamma.data(), p.beta.data(), 1e-6f};
    p.args.gated = true;
    const std::vector<float> exact = Product(*table, p);
    p.args.round_rows = true;
    const std::vector<float> whole = Product(*table, p);
    for (size_t i = 0; i < whole.size(); ++i)
      ASSERT_NEAR(whole[i], exact[i], 0.15) << table->name << " element " << i;
    EXPECT_NE(whole, exact) << table->name;
    for (const Shape tile : {Shape{1, 32, 512}, Shape{5, 96, 32}, Shape{14, 64, 96}}) {
      p.args.tile_m = tile.m;
      p.args.tile_n = tile.n;
      p.args.tile_k = tile.k;
      ASSERT_EQ(Product(*table, p), whole) << table->name << " tile " << tile.m;
    }
    for (int64_t r = 0; r < 37; r += 6) {
      Problem alone = p;
      alone.args.norm.gamma = alone.gamma.data();
      alone.args.norm.beta = alone.beta.data();
      alone.a.assign(p.a.begin() + r * p.args.lda, p.a.begin() + (r + 1) * p.args.lda);
      alone.args.m = 1;
      alone.args.tile_m = 0;
      const std::vector<float> row = Product(*table, alone);
      ASSERT_TRUE(std::equal(row.begin(), row.begin() + p.width(), whole.begin() + r * p.args.ldc))
          << table->name << " row " << r;
    }
  }
}

TEST(Gemm, RowsInBF16KeepWhatIsNotFinite) {
  for (const KernelTable* table : TestedTables(&KernelTable::gemm)) {
    Problem p = MakeProblem(DType::kBF16, {3, 16, 64});
    p.args.round_rows = true;
    p.a[5] = std::bit_cast<float>(0x7fffffffu);  // NaN, beyond which rounding would carry
    p.a[p.args.lda + 5] = std::numeric_limits<float>::infinity();
    const std::vector<float> c = Product(*table, p);
    EXPECT_TRUE(std::isnan(c[0])) << table->name;
    EXPECT_TRUE(std::isinf(c[p.args.ldc])) << table->name;
    EXPECT_TRUE(std::isfinite(c[2 * p.args.ldc])) << table->name;
  }
}

TEST(Gemm, EmulationHasTheBitsOfAvx512) {
  const auto tables = TablesOfEqualBits();
  if (tables.empty()) GTEST_SKIP() << "NOT RUN: AVX-512 is missing";
  for (const DType dtype : kFormats) {
    for (const int64_t m : {1, 3, 17}) {
      Problem p = MakeProblem(dtype, {m, 64, 512});
      p.args.norm = {NormKind::kLayer, p.gamma.data(), p.beta.data(), 1e-6f};
      p.args.bias = p.bias.data();
      p.args.activation = Activation::kGeluErf;
      EXPECT_EQ(Product(*tables[0], p), Product(*tables[1], p)) << DTypeName(dtype) << " m=" << m;
    }
  }
}

TEST(Gemm, TilesKeepThreadsBusy) {
  for (const int threads : {1, 2, 4, 16, 64}) {
    for (const Shape shape : {Shape{1, 576, 576}, Shape{1, 49152, 576}, Shape{512, 768, 768},
                              Shape{128, 3072, 768}, Shape{1, 1, 1}, Shape{3, 17, 4096}}) {
      GemmArgs args;
      args.m = shape.m, args.n = shape.n, args.k = shape.k;
      ChooseTile(args, threads, 1 << 20);
      ASSERT_GE(args.tile_m, 1);
      ASSERT_GE(args.tile_n, 16);
      EXPECT_EQ(args.tile_n % 16, 0);
      EXPECT_EQ(args.tile_k % 32, 0);
      const auto work = static_cast<double>(shape.m * RoundUp(shape.n, 16));
      if (work < 16 * 2 * threads) continue;
      // The slowest thread's share of the product, as if all were shared out evenly.
      const int64_t rounds = (Tasks(args) + threads - 1) / threads;
      const double share = static_cast<double>(rounds * args.tile_m * args.tile_n) * threads / work;
      EXPECT_LT(share, 1.8) << shape.m << " x " << shape.n << " x " << shape.k << " on " << threads;
    }
  }
}

}  // namespace
}  // namespace tboost::kernels
