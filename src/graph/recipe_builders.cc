#include "src/graph/recipe_builders.h"

#include <cmath>
#include <cstring>
#include <optional>

#include "src/base/checked.h"

namespace tboost {
namespace {

// Bytes of a matrix whose rows are whole blocks of its format.
Result<uint64_t> MatrixBytes(DType dtype, int64_t rows, int64_t columns) {
  if (rows < 0 || columns < 0)
    return InvalidArgumentError("recipe: a matrix of {} rows and {} columns", rows, columns);
  const auto row = RowBytes(dtype, columns);
  const auto all = row ? CheckedMul(*row, rows) : std::nullopt;
  if (!all || !CheckedMul(rows, columns) || *all > (uint64_t{1} << 62))
    return InvalidArgumentError("recipe: {} cannot hold {} rows of {} columns", DTypeName(dtype),
                                rows, columns);
  return *all;
}

bool IsReal(DType dtype) {
  return dtype == DType::kF32 || dtype == DType::kF16 || dtype == DType::kBF16;
}

Result<RecipePtr> Share(Recipe recipe) {
  TBOOST_RETURN_IF_ERROR(MatrixBytes(recipe.dtype, recipe.rows, recipe.columns).status());
  return RecipePtr(std::make_shared<const Recipe>(std::move(recipe)));
}

// A recipe over `input` with its format and shape.
Recipe Over(Recipe::Kind kind, RecipePtr input) {
  Recipe out;
  out.kind = kind;
  out.dtype = input->dtype;
  out.rows = input->rows;
  out.columns = input->columns;
  out.inputs.push_back(std::move(input));
  return out;
}

// The first of `inputs` as shape and format of a recipe of several, which must agree with it.
Result<Recipe> OverAll(Recipe::Kind kind, std::vector<RecipePtr> inputs, std::string_view what) {
  if (inputs.empty()) return InvalidArgumentError("recipe: {} of nothing", what);
  Recipe out = Over(kind, inputs[0]);
  for (const RecipePtr& input : inputs)
    if (input->dtype != out.dtype || input->columns != out.columns)
      return InvalidArgumentError("recipe: {} of {} rows of {} and {} rows of {}", what,
                                  DTypeName(out.dtype), out.columns, DTypeName(input->dtype),
                                  input->columns);
  out.inputs = std::move(inputs);
  return out;
}

}  // namespace

Result<RecipePtr> FileRecipe(int file, uint64_t offset, DType dtype, int64_t rows,
                             int64_t columns) {
  TBOOST_ASSIGN_OR_RETURN(const uint64_t bytes, MatrixBytes(dtype, rows, columns));
  if (file < 0 || !CheckedAdd(offset, bytes))
    return InvalidArgumentError("recipe: {} bytes at {} of file {}", bytes, offset, file);
  Recipe out;
  out.kind = Recipe::Kind::kFile;
  out.dtype = dtype;
  out.rows = rows;
  out.columns = columns;
  out.file = file;
  out.offset = offset;
  return Share(std::move(out));
}

Result<RecipePtr> InlineRecipe(DType dtype, int64_t rows, int64_t columns, std::string data) {
  TBOOST_ASSIGN_OR_RETURN(const uint64_t bytes, MatrixBytes(dtype, rows, columns));
  if (data.size() != bytes)
    return InvalidArgumentError("recipe: {} bytes for {} rows of {} columns of {}, expected {}",
                                data.size(), rows, columns, DTypeName(dtype), bytes);
  Recipe out;
  out.kind = Recipe::Kind::kInline;
  out.dtype = dtype;
  out.rows = rows;
  out.columns = columns;
  out.data = std::move(data);
  return Share(std::move(out));
}

Result<RecipePtr> InlineRecipe(int64_t rows, int64_t columns, const std::vector<float>& data) {
  std::string bytes(data.size() * sizeof(float), '\0');
  if (!data.empty()) std::memcpy(bytes.data(), data.data(), bytes.size());
  return InlineRecipe(DType::kF32, rows, columns, std::move(bytes));
}

Result<RecipePtr> ConcatRows(std::vector<RecipePtr> inputs) {
  TBOOST_ASSIGN_OR_RETURN(Recipe out,
                          OverAll(Recipe::Kind::kConcatRows, std::move(inputs), "concat"));
  out.rows = 0;
  for (const RecipePtr& input : out.inputs)
    if (__builtin_add_overflow(out.rows, input->rows, &out.rows))
      return InvalidArgumentError("recipe: concat of more than 2^63 rows");
  return Share(std::move(out));
}

Result<RecipePtr> InterleaveRows(std::vector<RecipePtr> inputs) {
  TBOOST_ASSIGN_OR_RETURN(Recipe out,
                          OverAll(Recipe::Kind::kInterleaveRows, std::move(inputs), "interleave"));
  for (const RecipePtr& input : out.inputs)
    if (input->rows % 16 != 0 || input->rows != out.inputs[0]->rows)
      return InvalidArgumentError(
          "recipe: interleave of {} and {} rows, expected equal multiples of 16",
          out.inputs[0]->rows, input->rows);
  if (__builtin_mul_overflow(out.rows, static_cast<int64_t>(out.inputs.size()), &out.rows))
    return InvalidArgumentError("recipe: interleave of more than 2^63 rows");
  return Share(std::move(out));
}

Result<RecipePtr> RopeHalves(RecipePtr input, int64_t head_rows) {
  if (head_rows <= 0 || head_rows % 2 != 0 || input->rows % head_rows != 0)
    return InvalidArgumentError("recipe: rope_halves of {} rows in heads of {}", input->rows,
                                head_rows);
  Recipe out = Over(Recipe::Kind::kRopeHalves, std::move(input));
  out.param = head_rows;
  return Share(std::move(out));
}

Result<RecipePtr> Cast(RecipePtr input, DType dtype) {
  if (input->dtype == dtype) return input;
  const bool channel = Info(dtype).row_bytes > 0;
  if (!(IsReal(input->dtype) || Info(input->dtype).quantised()) || !(IsReal(dtype) || channel))
    return InvalidArgumentError("recipe: cast of {} to {}", DTypeName(input->dtype),
                                DTypeName(dtype));
  Recipe out = Over(Recipe::Kind::kCast, std::move(input));
  out.dtype = dtype;
  return Share(std::move(out));
}

Result<RecipePtr> AddScalar(RecipePtr input, double scalar) {
  if (input->dtype != DType::kF32 || !std::isfinite(scalar))
    return InvalidArgumentError("recipe: {} + {}", DTypeName(input->dtype), scalar);
  Recipe out = Over(Recipe::Kind::kAddScalar, std::move(input));
  out.scalar = scalar;
  return Share(std::move(out));
}

Result<RecipePtr> AsColumn(RecipePtr input) {
  if (input->columns == 1) return input;
  if (input->rows != 1 || Info(input->dtype).quantised())
    return InvalidArgumentError("recipe: {} rows of {} as a column", input->rows,
                                DTypeName(input->dtype));
  Recipe out = *input;
  std::swap(out.rows, out.columns);
  for (RecipePtr& child : out.inputs) {
    TBOOST_ASSIGN_OR_RETURN(child, AsColumn(std::move(child)));
  }
  return Share(std::move(out));
}

}  // namespace tboost
