#include "src/graph/recipe_builders.h"

#include <gtest/gtest.h>

#include "src/graph/graph.h"

namespace tboost {
namespace {

RecipePtr File(int64_t rows, int64_t columns, DType dtype = DType::kF32) {
  return *FileRecipe(0, 0, dtype, rows, columns);
}

TEST(RecipeBuilders, Shapes) {
  const auto concat = ConcatRows({File(3, 8), File(5, 8)});
  ASSERT_TRUE(concat.ok());
  EXPECT_EQ((*concat)->rows, 8);
  EXPECT_EQ((*InterleaveRows({File(32, 8), File(32, 8)}))->rows, 64);
  EXPECT_EQ((*RopeHalves(File(64, 8), 16))->rows, 64);
  EXPECT_EQ((*Cast(File(2, 32, DType::kQ8_0), DType::kF32))->dtype, DType::kF32);
  const RecipePtr same = File(2, 8);
  EXPECT_EQ(*Cast(same, DType::kF32), same);
}

TEST(RecipeBuilders, Rejected) {
  EXPECT_FALSE(FileRecipe(-1, 0, DType::kF32, 1, 1).ok());
  EXPECT_FALSE(FileRecipe(0, 0, DType::kF32, -1, 1).ok());
  EXPECT_FALSE(FileRecipe(0, 0, DType::kQ4_0, 4, 33).ok());
  EXPECT_FALSE(FileRecipe(0, 0, DType::kF32, int64_t{1} << 40, int64_t{1} << 40).ok());
  EXPECT_FALSE(FileRecipe(0, ~uint64_t{0} - 3, DType::kF32, 1, 1).ok());
  EXPECT_FALSE(InlineRecipe(DType::kF32, 1, 2, "abc").ok());
  EXPECT_FALSE(ConcatRows({}).ok());
  EXPECT_FALSE(ConcatRows({File(3, 8), File(3, 9)}).ok());
  EXPECT_FALSE(ConcatRows({File(3, 8), File(3, 8, DType::kF16)}).ok());
  EXPECT_FALSE(InterleaveRows({File(8, 8), File(8, 8)}).ok());
  EXPECT_FALSE(InterleaveRows({File(16, 8), File(32, 8)}).ok());
  EXPECT_FALSE(RopeHalves(File(60, 8), 16).ok());
  EXPECT_FALSE(RopeHalves(File(60, 8), 15).ok());
  EXPECT_FALSE(RopeHalves(File(60, 8), 0).ok());
  EXPECT_FALSE(Cast(File(2, 8), DType::kI32).ok());
  EXPECT_FALSE(Cast(File(2, 8, DType::kI32), DType::kF32).ok());
  EXPECT_FALSE(AddScalar(File(2, 8, DType::kF16), 1).ok());
}

TEST(RecipeBuilders, AsColumnReachesTheLeaves) {
  const RecipePtr row = *AddScalar(*Cast(File(1, 48, DType::kF16), DType::kF32), 1);
  EXPECT_EQ(ToText(**AsColumn(row)), "add(cast(file(0, 0, f16[48, 1]), f32), 1.0)");
  EXPECT_FALSE(AsColumn(File(2, 8)).ok());
  EXPECT_FALSE(AsColumn(File(1, 32, DType::kQ8_0)).ok());
}

}  // namespace
}  // namespace tboost
