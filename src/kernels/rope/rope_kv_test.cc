#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "src/base/random.h"
#include "src/kernels/kernels_testing.h"
#include "src/tensor/float16.h"

namespace tboost::kernels {
namespace {

struct RopeCase {
  int heads, kv_heads, head_dim, rotary_dim;
  bool norms;
};
const RopeCase kCases[] = {{9, 3, 64, 64, false}, {4, 1, 256, 256, true}, {2, 2, 80, 32, false},
                           {3, 1, 8, 8, true},    {2, 1, 72, 72, true},   {2, 1, 64, 0, true},
                           {2, 0, 96, 96, false}, {0, 2, 96, 96, false}};

// Tokens of a step with their inputs, side by side in one matrix.
struct Step {
  explicit Step(const RopeCase& c)
      : shape(c),
        stride((c.heads + 2 * c.kv_heads) * c.head_dim + 3),
        x(kTokens * stride),
        angles(kTokens * c.rotary_dim),
        q_gamma(c.head_dim),
        k_gamma(c.head_dim) {
    const HashRandom random(1, "rope");
    for (size_t i = 0; i < x.size(); ++i) x[i] = random.Normal(i);
    for (int t = 0; t < kTokens; ++t) {
      for (int i = 0; i < c.rotary_dim / 2; ++i) {
        const float angle = random.Uniform(t * 1000 + i) * 3;
        angles[t * c.rotary_dim + i] = std::cos(angle);
        angles[t * c.rotary_dim + c.rotary_dim / 2 + i] = std::sin(angle);
      }
    }
    for (int i = 0; i < c.head_dim; ++i) {
      q_gamma[i] = 1 + random.Uniform(i) / 2;
      k_gamma[i] = 1 - random.Uniform(i) / 2;
    }
  }

  const float* Head(int token, int head) const {
    return &x[token * stride + head * shape.head_dim];
  }

  // Head `head` of the q, k and v heads of a token, as it should become.
  std::vector<double> Expected(int token, int head, const std::vector<float>& gamma) const {
    const float* in = Head(token, head);
    std::vector<double> y(in, in + shape.head_dim);
    if (shape.norms) {
      double squares = 0;
      for (double value : y) squares += value * value / shape.head_dim;
      for (int i = 0; i < shape.head_dim; ++i)
        y[i] *= gamma[i] / std::sqrt(squares + double{1e-6f});
    }
    const int pairs = shape.rotary_dim / 2;
    for (int i = 0; i < pairs; ++i) {
      const double a = y[i], b = y[i + pairs];
      const double cosine = angles[token * shape.rotary_dim + i];
      const double sine = angles[token * shape.rotary_dim + pairs + i];
      y[i] = a * cosine - b * sine;
      y[i + pairs] = b * cosine + a * sine;
    }
    return y;
  }

  RopeKvArgs Args() const {
    RopeKvArgs args;
    args.heads = shape.heads;
    args.kv_heads = shape.kv_heads;
    args.head_dim = shape.head_dim;
    args.rotary_dim = shape.rotary_dim;
    args.tokens = kTokens;
    if (shape.heads) args.q = Head(0, 0);
    if (shape.kv_heads) args.k = Head(0, shape.heads);
    if (shape.kv_heads) args.v = Head(0, shape.heads + shape.kv_heads);
    args.ldq = args.ldk = args.ldv = stride;
    if (shape.rotary_dim) args.angles = angles.data();
    if (shape.norms) args.q_gamma = q_gamma.data();
    if (shape.norms) args.k_gamma = k_gamma.data();
    args.eps = 1e-6f;
    return args;
  }

  static constexpr int kTokens = 37;
  RopeCase shape;
  int stride;
  std::vector<float> x, angles, q_gamma, k_gamma;
};

void ExpectHead(const float* got, const std::vector<double>& want) {
  for (size_t i = 0; i < want.size(); ++i) ASSERT_NEAR(got[i], want[i], 2e-6) << i;
}

TEST(RopeKv, EqualsTheReferenceOnEveryInstructionSet) {
  for (const RopeCase& c : kCases) {
    const Step step(c);
    for (const KernelTable* table : TestedTables()) {
      SCOPED_TRACE(::testing::Message() << table->name << ", head_dim " << c.head_dim);
      const int q_row = c.heads * c.head_dim, k_row = c.kv_heads * c.head_dim;
      std::vector<float> q(Step::kTokens * q_row), k(Step::kTokens * k_row);
      RopeKvArgs args = step.Args();
      args.q_out = q.data();
      args.ldq_out = q_row;
      args.k_out = k.data();
      args.ldk_out = k_row;
      RunKernel(table->rope_kv, args);
      for (int t = 0; t < Step::kTokens; ++t) {
        for (int h = 0; h < c.heads; ++h) {
          ExpectHead(&q[t * q_row + h * c.head_dim], step.Expected(t, h, step.q_gamma));
        }
        for (int h = 0; h < c.kv_heads; ++h) {
          ExpectHead(&k[t * k_row + h * c.head_dim], step.Expected(t, c.heads + h, step.k_gamma));
        }
      }
    }
  }
}

TEST(RopeKv, InPlaceGivesEqualBits) {
  const Step step(kCases[1]);
  for (const KernelTable* table : TestedTables()) {
    const int row = 4 * 256;
    std::vector<float> q(Step::kTokens * row), k(Step::kTokens * 256);
    Step in_place = step;
    RopeKvArgs args = step.Args();
    args.q_out = q.data();
    args.ldq_out = row;
    args.k_out = k.data();
    args.ldk_out = 256;
    RunKernel(table->rope_kv, args);
    args = in_place.Args();
    args.q_out = in_place.x.data();
    args.k_out = in_place.x.data() + row;
    args.ldq_out = args.ldk_out = step.stride;
    RunKernel(table->rope_kv, args);
    for (int t = 0; t < Step::kTokens; ++t) {
      for (int i = 0; i < row; ++i) ASSERT_EQ(in_place.Head(t, 0)[i], q[t * row + i]);
      for (int i = 0; i < 256; ++i) ASSERT_EQ(in_place.Head(t, 4)[i], k[t * 256 + i]);
    }
  }
}

TEST(RopeKv, KeysAndValuesGoToTheirPages) {
  for (const RopeCase& c : {kCases[0], kCases[4], kCases[7]}) {
    const Step step(c);
    // Three sequences; the second continues one of 60 tokens and crosses into its second page.
    const std::vector<int32_t> offsets = {0, 10, 30, 37}, past = {0, 60, 5},
                               pages = {3, 0, 4, 1, 2, 5};
    std::vector<int32_t> sequence_of(Step::kTokens);
    for (int t = 0; t < Step::kTokens; ++t) sequence_of[t] = t < 10 ? 0 : t < 30 ? 1 : 2;
    const SequenceLayout layout = {3, Step::kTokens,     offsets.data(), past.data(), pages.data(),
                                   2, sequence_of.data()};
    for (const KernelTable* table : TestedTables()) {
      SCOPED_TRACE(table->name);
      KvCacheView cache = {nullptr, 0, c.kv_heads, c.head_dim, DType::kF32};
      cache.page_stride = cache.PageBytes();
      const size_t floats = 6 * cache.page_stride / sizeof(float);
      std::vector<float> memory(floats, std::numeric_limits<float>::quiet_NaN());
      cache.base = reinterpret_cast<std::byte*>(memory.data());
      std::vector<float> q(Step::kTokens * c.heads * c.head_dim);
      RopeKvArgs args = step.Args();
      args.q_out = q.data();
      args.ldq_out = c.heads * c.head_dim;
      args.cache = cache;
      args.layout = &layout;
      RunKernel(table->rope_kv, args);
      for (int t = 0; t < Step::kTokens; ++t) {
        const int position = past[sequence_of[t]] + t - offsets[sequence_of[t]];
        const int page = pages[sequence_of[t] * 2 + position / kPageTokens];
        const int slot = position % kPageTokens;
        for (int h = 0; h < c.kv_heads; ++h) {
          ExpectHead(cache.Keys(page, h).row<float>(slot),
                     step.Expected(t, c.heads + h, step.k_gamma));
          const float* v = step.Head(t, c.heads + c.kv_heads + h);
          ExpectHead(cache.Values(page, h).row<float>(slot),
                     std::vector<double>(v, v + c.head_dim));
        }
      }
      // Nothing else is written.
      int64_t written = 0;
      for (float value : memory) written += !std::isnan(value);
      EXPECT_EQ(written, int64_t{Step::kTokens} * 2 * c.kv_heads * c.head_dim);
    }
  }
}

// One head of one token to a cache and the memory of its keys.
std::vector<std::byte> StoredKey(const KernelTable& table, DType dtype,
                                 const std::vector<float>& x) {
  KvCacheView cache = {nullptr, 0, 1, static_cast<int>(x.size()), dtype};
  cache.page_stride = cache.PageBytes();
  std::vector<std::byte> memory(cache.page_stride);
  cache.base = memory.data();
  const int32_t offsets[] = {0, 1}, past[] = {5}, pages[] = {0}, sequence_of[] = {0};
  const SequenceLayout layout = {1, 1, offsets, past, pages, 1, sequence_of};
  RopeKvArgs args;
  args.k = args.v = x.data();
  args.kv_heads = 1;
  args.head_dim = cache.head_dim;
  args.cache = cache;
  args.tokens = 1;
  args.layout = &layout;
  RunKernel(table.rope_kv, args);
  return memory;
}

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

TEST(RopeKv, BF16RoundsToNearestEven) {
  // Ties, their neighbours, subnormal numbers, the largest that stays finite, NaN with any payload.
  std::vector<float> x = {0x1.01p0f,
                          0x1.03p0f,
                          0x1.0101p0f,
                          -0x1.00ffp0f,
                          0.0f,
                          -0.0f,
                          1e-40f,
                          0x1.fefffep127f,
                          kInfinity,
                          -kInfinity,
                          kNan,
                          3.4e38f,
                          std::bit_cast<float>(0x7fffffffu)};
  const HashRandom random(4, "bf16");
  while (x.size() < 72) x.push_back(random.Normal(x.size()));
  for (const KernelTable* table : TestedTables()) {
    std::vector<std::byte> memory = StoredKey(*table, DType::kBF16, x);
    const KvRows rows = {memory.data(), static_cast<int>(x.size()), DType::kBF16};
    for (size_t i = 0; i < x.size(); ++i) {
      const uint16_t got = rows.row<uint16_t>(5)[i];
      if (std::isnan(x[i]))
        EXPECT_TRUE(std::isnan(BF16ToFloat(got))) << table->name << i;
      else
        EXPECT_EQ(got, FloatToBF16(x[i])) << table->name << ", " << x[i];
    }
  }
}

TEST(RopeKv, Int8IsWithinHalfAStepOfTheRowsScale) {
  const HashRandom random(3, "int8");
  for (int head_dim : {8, 40, 64, 72}) {
    for (float outlier : {1.0f, 1e3f, 1e-30f}) {
      std::vector<float> x(head_dim);
      for (int i = 0; i < head_dim; ++i) x[i] = random.Normal(i);
      x[head_dim / 2] = outlier;
      float largest = 0;
      for (float value : x) largest = std::max(largest, std::abs(value));
      for (const KernelTable* table : TestedTables()) {
        std::vector<std::byte> memory = StoredKey(*table, DType::kI8, x);
        const KvRows rows = {memory.data(), head_dim, DType::kI8};
        EXPECT_FLOAT_EQ(rows.scales()[5], largest / 127);
        for (int i = 0; i < head_dim; ++i) {
          const float value = static_cast<float>(rows.row<int8_t>(5)[i]) * rows.scales()[5];
          EXPECT_NEAR(value, x[i], largest / 127 * 0.50001f) << table->name << ", element " << i;
        }
      }
    }
  }
}

TEST(RopeKv, Int8KeepsZerosAndDoesNotHideWhatIsNotFinite) {
  for (const KernelTable* table : TestedTables()) {
    std::vector<float> x(24, 0.0f);
    std::vector<std::byte> memory = StoredKey(*table, DType::kI8, x);
    KvRows rows = {memory.data(), 24, DType::kI8};
    EXPECT_EQ(rows.scales()[5], 0);
    EXPECT_EQ(rows.row<int8_t>(5)[3], 0);
    for (float bad : {kNan, kInfinity, -kInfinity}) {
      x[7] = bad;
      memory = StoredKey(*table, DType::kI8, x);
      rows.data = memory.data();
      EXPECT_FALSE(std::isfinite(rows.scales()[5])) << table->name << ' ' << bad;
    }
  }
}

}  // namespace
}  // namespace tboost::kernels
