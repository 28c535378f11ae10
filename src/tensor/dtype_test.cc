#include "src/tensor/dtype.h"

#include <gtest/gtest.h>

namespace tboost {
namespace {

TEST(DTypeTest, NamesRoundTrip) {
  for (const DTypeInfo& info : AllDTypes()) {
    EXPECT_EQ(DTypeFromName(info.name), info.dtype);
    EXPECT_EQ(&Info(info.dtype), &info);
    EXPECT_EQ(DTypeName(info.dtype), info.name);
    EXPECT_GE(info.panel_block_bytes, info.block_bytes) << info.name;
  }
  EXPECT_FALSE(DTypeFromName("f64").has_value());
  EXPECT_FALSE(DTypeFromName("").has_value());
}

TEST(DTypeTest, StorageBytes) {
  EXPECT_EQ(StorageBytes(DType::kF32, 3), 12u);
  EXPECT_EQ(StorageBytes(DType::kQ4_0, 64), 36u);
  EXPECT_EQ(StorageBytes(DType::kQ6_K, 512), 420u);
  EXPECT_EQ(StorageBytes(DType::kQ8_0, 0), 0u);
  EXPECT_FALSE(StorageBytes(DType::kQ4_0, 33).has_value());
  EXPECT_FALSE(StorageBytes(DType::kI64, uint64_t{1} << 61).has_value());
  EXPECT_TRUE(StorageBytes(DType::kQ4_K, uint64_t{1} << 63).has_value());
  EXPECT_FALSE(StorageBytes(DType::kInt8, 64).has_value());
}

TEST(DTypeTest, RowBytes) {
  EXPECT_EQ(RowBytes(DType::kQ4_0, 64), 36u);
  EXPECT_EQ(RowBytes(DType::kInt8, 5), 13u);
  EXPECT_EQ(RowBytes(DType::kInt7, 0), 8u);
  EXPECT_FALSE(RowBytes(DType::kQ4_0, 33).has_value());
  EXPECT_FALSE(RowBytes(DType::kInt8, ~uint64_t{0} - 3).has_value());
}

}  // namespace
}  // namespace tboost
