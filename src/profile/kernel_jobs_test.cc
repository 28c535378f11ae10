#include "src/profile/kernel_jobs.h"

#include <gtest/gtest.h>

#include "src/base/cpu_features.h"

namespace tboost {
namespace {

TEST(KernelJobs, SizesAreParsed) {
  const Result<ProductShape> product = ParseProduct("3x32x64:q4_1");
  ASSERT_TRUE(product.ok());
  EXPECT_EQ(product->m, 3);
  EXPECT_EQ(product->n, 32);
  EXPECT_EQ(product->k, 64);
  EXPECT_EQ(product->weights, DType::kQ4_1);
  const Result<AttentionShape> attention = ParseAttention("12x64x100");
  ASSERT_TRUE(attention.ok());
  EXPECT_EQ(attention->heads, 12);
  EXPECT_EQ(attention->head_dim, 64);
  EXPECT_EQ(attention->tokens, 100);
}

TEST(KernelJobs, WhatIsNoSizeIsRefused) {
  for (const char* text : {"", "1", "1x2", "1x2x", "x2x3", "1x2x3x4", "0x2x3", "-1x2x3", "1x2x3 ",
                           "99999999999x2x3", "1x2x3:", "1x2x3:f33"})
    EXPECT_FALSE(ParseProduct(text).ok()) << text;
  EXPECT_FALSE(ParseAttention("12x64").ok());
}

class KernelJobsTest : public testing::Test {
 protected:
  void SetUp() override {
    auto pool = ThreadPool::Create(2);
    ASSERT_TRUE(pool.ok());
    pool_ = std::move(*pool);
  }
  const kernels::KernelTable& table() { return kernels::Kernels(DetectIsa()); }
  std::unique_ptr<ThreadPool> pool_;
};

TEST_F(KernelJobsTest, ProductsOfEveryFormatRun) {
  for (const DTypeInfo& info : AllDTypes()) {
    ProductShape shape{3, 40, 256, info.dtype, true, 1 << 20};
    const Result<KernelJob> job = MakeProductJob(*pool_, table(), 1 << 20, shape);
    if (!PanelBytes(info.dtype, shape.k)) {
      EXPECT_FALSE(job.ok()) << info.name;
      continue;
    }
    ASSERT_TRUE(job.ok()) << job.status().message();
    EXPECT_EQ(job->operations, 2.0 * 3 * 40 * 256);
    EXPECT_GE(job->cycle_bytes, 1 << 20);
    for (int run = 0; run < 3; ++run) job->run();
  }
}

TEST_F(KernelJobsTest, AttentionRunsAndCountsHalfWhereCausal) {
  const Result<KernelJob> full = MakeAttentionJob(*pool_, table(), {2, 16, 70, false});
  const Result<KernelJob> causal = MakeAttentionJob(*pool_, table(), {2, 16, 70, true});
  ASSERT_TRUE(full.ok() && causal.ok());
  full->run();
  causal->run();
  EXPECT_EQ(full->operations, 4.0 * 70 * 70 * 2 * 16);
  EXPECT_EQ(causal->operations, full->operations / 2);
}

TEST_F(KernelJobsTest, WhatNoMemoryHoldsIsRefused) {
  EXPECT_FALSE(MakeProductJob(*pool_, table(), 1 << 20, {1 << 24, 1 << 24, 1 << 24}).ok());
  EXPECT_FALSE(MakeAttentionJob(*pool_, table(), {1 << 24, 1 << 24, 1 << 24, false}).ok());
}

}  // namespace
}  // namespace tboost
