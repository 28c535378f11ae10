#include "src/graph/recipe_eval.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "src/graph/recipe_builders.h"
#include "src/tensor/panel.h"

namespace tboost {
namespace {

std::vector<float> Iota(int64_t n, float first) {
  std::vector<float> out(n);
  for (int64_t i = 0; i < n; ++i) out[i] = first + static_cast<float>(i);
  return out;
}

RecipePtr Matrix(int64_t rows, int64_t columns, float first) {
  return InlineRecipe(rows, columns, Iota(rows * columns, first)).value();
}

std::vector<float> Floats(std::string_view bytes) {
  std::vector<float> out(bytes.size() / sizeof(float));
  std::memcpy(out.data(), bytes.data(), bytes.size());
  return out;
}

std::string All(const Recipe& recipe, SourceBytes source = kNoSource) {
  std::string storage;
  const auto rows = EvaluateRecipeRows(recipe, 0, recipe.rows, source, storage);
  EXPECT_TRUE(rows.ok()) << rows.status().message();
  return rows.ok() ? std::string(*rows) : "";
}

// First elements of each row.
std::vector<float> FirstColumn(const Recipe& recipe) {
  std::vector<float> all = Floats(All(recipe)), out;
  for (int64_t i = 0; i < recipe.rows; ++i) out.push_back(all[i * recipe.columns]);
  return out;
}

TEST(RecipeEval, FileRowsAreAViewOfTheSource) {
  const std::string file = "....abcdefghijkl";
  auto source = [&](int, uint64_t offset, uint64_t bytes) -> Result<std::string_view> {
    return std::string_view(file).substr(offset, bytes);
  };
  const RecipePtr recipe = FileRecipe(0, 4, DType::kU8, 4, 3).value();
  std::string storage;
  const auto rows = EvaluateRecipeRows(*recipe, 1, 2, source, storage);
  ASSERT_TRUE(rows.ok());
  EXPECT_EQ(*rows, "defghi");
  EXPECT_EQ(rows->data(), file.data() + 7);
  EXPECT_TRUE(storage.empty());
}

TEST(RecipeEval, ShortSourceIsAnError) {
  auto source = [](int, uint64_t, uint64_t) -> Result<std::string_view> {
    return std::string_view("abc");
  };
  std::string storage;
  const auto rows =
      EvaluateRecipeRows(*FileRecipe(0, 0, DType::kU8, 4, 3).value(), 0, 4, source, storage);
  EXPECT_EQ(rows.status().code(), StatusCode::kCorrupt);
  const RecipePtr file = FileRecipe(2, 0, DType::kU8, 4, 3).value();
  EXPECT_FALSE(EvaluateRecipeRows(*file, 0, 1, kNoSource, storage).ok());
}

TEST(RecipeEval, RowsOutsideAreAnError) {
  std::string storage;
  const RecipePtr m = Matrix(4, 2, 0);
  EXPECT_FALSE(EvaluateRecipeRows(*m, -1, 1, kNoSource, storage).ok());
  EXPECT_FALSE(EvaluateRecipeRows(*m, 3, 2, kNoSource, storage).ok());
  EXPECT_FALSE(EvaluateRecipeRows(*m, 0, -1, kNoSource, storage).ok());
  EXPECT_FALSE(EvaluateRecipeRows(*m, INT64_MAX, 1, kNoSource, storage).ok());
}

TEST(RecipeEval, ConcatAndInterleave) {
  const RecipePtr concat = ConcatRows({Matrix(2, 3, 0), Matrix(1, 3, 100)}).value();
  EXPECT_EQ(FirstColumn(*concat), (std::vector<float>{0, 3, 100}));

  const RecipePtr turns = InterleaveRows({Matrix(32, 1, 0), Matrix(32, 1, 100)}).value();
  const std::vector<float> column = FirstColumn(*turns);
  ASSERT_EQ(column.size(), 64u);
  for (int i = 0; i < 16; ++i) {
    EXPECT_EQ(column[i], i);
    EXPECT_EQ(column[16 + i], 100 + i);
    EXPECT_EQ(column[32 + i], 16 + i);
    EXPECT_EQ(column[48 + i], 116 + i);
  }
}

TEST(RecipeEval, RopeHalves) {
  const RecipePtr recipe = RopeHalves(Matrix(12, 1, 0), 6).value();
  EXPECT_EQ(FirstColumn(*recipe), (std::vector<float>{0, 2, 4, 1, 3, 5, 6, 8, 10, 7, 9, 11}));
}

TEST(RecipeEval, CastAndAddScalar) {
  const RecipePtr half = Cast(Matrix(3, 5, -4), DType::kF16).value();
  const RecipePtr back = Cast(half, DType::kF32).value();
  EXPECT_EQ(Floats(All(*AddScalar(back, 1).value())), Iota(15, -3));
}

TEST(RecipeEval, QuantisedRowsCastAsTheFormatDefines) {
  std::string block(18, '\0');  // q4_0: scale 1, then 4-bit codes minus 8
  block[1] = 0x3c;
  for (int i = 2; i < 18; ++i) block[i] = static_cast<char>(0x97);
  const RecipePtr recipe =
      Cast(InlineRecipe(DType::kQ4_0, 1, 32, block).value(), DType::kF32).value();
  std::vector<float> expected(32, -1);
  std::fill(expected.begin() + 16, expected.end(), 1.0f);
  EXPECT_EQ(Floats(All(*recipe)), expected);
}

// Any division into ranges gives the bytes of the whole.
TEST(RecipeEval, RangesAreEqualToTheWhole) {
  const RecipePtr a = RopeHalves(Matrix(32, 3, 0), 8).value();
  const RecipePtr b =
      AddScalar(ConcatRows({Matrix(20, 3, 1000), Matrix(12, 3, 2000)}).value(), 0.5).value();
  const RecipePtr recipe =
      Cast(ConcatRows({InterleaveRows({a, b}).value(), Matrix(3, 3, 7)}).value(), DType::kBF16)
          .value();
  const std::string whole = All(*recipe);
  ASSERT_EQ(whole.size(), 67u * 3 * 2);
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    std::string storage, pieces;
    for (int64_t row = 0; row < recipe->rows;) {
      const int64_t count = std::min<int64_t>(recipe->rows - row, 1 + random() % 23);
      const auto rows = EvaluateRecipeRows(*recipe, row, count, kNoSource, storage);
      ASSERT_TRUE(rows.ok());
      pieces += *rows;
      row += count;
    }
    ASSERT_EQ(pieces, whole);
  }
}

}  // namespace
}  // namespace tboost
