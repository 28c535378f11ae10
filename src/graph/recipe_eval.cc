#include "src/graph/recipe_eval.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "src/base/checked.h"
#include "src/tensor/panel.h"

namespace tboost {
namespace {

constexpr int64_t kInterleavedRows = 16;

Status Evaluate(const Recipe& recipe, int64_t first, int64_t count, SourceBytes source, char* out);

// The rows as they lie in a file or inline. `bytes` is their size, `skip` that of the rows before.
Result<std::string_view> StoredRows(const Recipe& recipe, uint64_t skip, uint64_t bytes,
                                    SourceBytes source) {
  if (recipe.kind == Recipe::Kind::kInline) {
    if (!InRange(skip, bytes, recipe.data.size()))
      return CorruptError("recipe: {} inline bytes, {} needed", recipe.data.size(), skip + bytes);
    return std::string_view(recipe.data).substr(skip, bytes);
  }
  const auto offset = CheckedAdd(recipe.offset, skip);
  if (!offset) return CorruptError("recipe: offset {} is too large", recipe.offset);
  TBOOST_ASSIGN_OR_RETURN(const std::string_view view, source(recipe.file, *offset, bytes));
  if (view.size() != bytes)
    return CorruptError("recipe: {} bytes at {} of file {}, expected {}", view.size(), *offset,
                        recipe.file, bytes);
  return view;
}

Status EvaluateConcat(const Recipe& recipe, int64_t first, int64_t count, uint64_t row_bytes,
                      SourceBytes source, char* out) {
  for (const RecipePtr& input : recipe.inputs) {
    const int64_t rows = std::min(count, input->rows - first);
    if (rows > 0) {
      TBOOST_RETURN_IF_ERROR(Evaluate(*input, first, rows, source, out));
      out += rows * row_bytes;
      count -= rows;
    }
    first = std::max<int64_t>(0, first - input->rows);
  }
  return OkStatus();
}

Status EvaluateInterleave(const Recipe& recipe, int64_t first, int64_t count, uint64_t row_bytes,
                          SourceBytes source, char* out) {
  const int64_t inputs = static_cast<int64_t>(recipe.inputs.size());
  for (int64_t row = first, end = first + count; row < end;) {
    const int64_t group = row / kInterleavedRows, within = row % kInterleavedRows;
    const int64_t rows = std::min(kInterleavedRows - within, end - row);
    TBOOST_RETURN_IF_ERROR(Evaluate(*recipe.inputs[group % inputs],
                                    group / inputs * kInterleavedRows + within, rows, source, out));
    out += rows * row_bytes;
    row += rows;
  }
  return OkStatus();
}

Status EvaluateRopeHalves(const Recipe& recipe, int64_t first, int64_t count, uint64_t row_bytes,
                          SourceBytes source, char* out) {
  const int64_t head_rows = recipe.param, half = head_rows / 2;
  std::string storage;
  for (int64_t row = first, end = first + count; row < end;) {
    const int64_t head = row / head_rows * head_rows;
    TBOOST_ASSIGN_OR_RETURN(
        const std::string_view pairs,
        EvaluateRecipeRows(*recipe.inputs[0], head, head_rows, source, storage));
    for (; row < std::min(end, head + head_rows); ++row, out += row_bytes) {
      const int64_t i = row - head;
      const int64_t from = i < half ? 2 * i : 2 * (i - half) + 1;
      std::memcpy(out, pairs.data() + from * row_bytes, row_bytes);
    }
  }
  return OkStatus();
}

Status EvaluateCast(const Recipe& recipe, int64_t first, int64_t count, uint64_t row_bytes,
                    SourceBytes source, char* out) {
  const Recipe& input = *recipe.inputs[0];
  TBOOST_ASSIGN_OR_RETURN(const uint64_t input_bytes, RecipeRowBytes(input));
  std::string storage;
  TBOOST_ASSIGN_OR_RETURN(const std::string_view rows,
                          EvaluateRecipeRows(input, first, count, source, storage));
  std::vector<float> row(recipe.columns);
  for (int64_t i = 0; i < count; ++i) {
    DequantizeRow(input.dtype, rows.data() + i * input_bytes, recipe.columns, row.data());
    ConvertRow(row.data(), recipe.columns, recipe.dtype, out + i * row_bytes);
  }
  return OkStatus();
}

Status EvaluateAddScalar(const Recipe& recipe, int64_t first, int64_t count, SourceBytes source,
                         char* out) {
  TBOOST_RETURN_IF_ERROR(Evaluate(*recipe.inputs[0], first, count, source, out));
  for (int64_t i = 0; i < count * recipe.columns; ++i, out += sizeof(float)) {
    float value;
    std::memcpy(&value, out, sizeof(value));
    value += static_cast<float>(recipe.scalar);
    std::memcpy(out, &value, sizeof(value));
  }
  return OkStatus();
}

// The rows, of which there are some and which the recipe has, to `out`.
Status Evaluate(const Recipe& recipe, int64_t first, int64_t count, SourceBytes source, char* out) {
  TBOOST_ASSIGN_OR_RETURN(const uint64_t row_bytes, RecipeRowBytes(recipe));
  switch (recipe.kind) {
    case Recipe::Kind::kFile:
    case Recipe::Kind::kInline: {
      TBOOST_ASSIGN_OR_RETURN(const std::string_view view,
                              StoredRows(recipe, first * row_bytes, count * row_bytes, source));
      std::copy(view.begin(), view.end(), out);
      return OkStatus();
    }
    case Recipe::Kind::kConcatRows:
      return EvaluateConcat(recipe, first, count, row_bytes, source, out);
    case Recipe::Kind::kInterleaveRows:
      return EvaluateInterleave(recipe, first, count, row_bytes, source, out);
    case Recipe::Kind::kRopeHalves:
      return EvaluateRopeHalves(recipe, first, count, row_bytes, source, out);
    case Recipe::Kind::kCast:
      return EvaluateCast(recipe, first, count, row_bytes, source, out);
    case Recipe::Kind::kAddScalar:
      return EvaluateAddScalar(recipe, first, count, source, out);
  }
  return InternalError("recipe: unknown kind {}", static_cast<int>(recipe.kind));
}

}  // namespace

Result<std::string_view> NoSource::operator()(int file, uint64_t, uint64_t) const {
  return InvalidArgumentError("recipe: reads source file {}, but there is none", file);
}

Result<uint64_t> RecipeRowBytes(const Recipe& recipe) {
  const auto bytes = recipe.columns < 0 ? std::nullopt : RowBytes(recipe.dtype, recipe.columns);
  const auto all = bytes && recipe.rows >= 0 ? CheckedMul(*bytes, recipe.rows) : std::nullopt;
  if (!all || *all > uint64_t{1} << 62)
    return CorruptError("recipe: {} rows of {} columns of {}", recipe.rows, recipe.columns,
                        DTypeName(recipe.dtype));
  return *bytes;
}

Result<std::string_view> EvaluateRecipeRows(const Recipe& recipe, int64_t first, int64_t count,
                                            SourceBytes source, std::string& storage) {
  TBOOST_ASSIGN_OR_RETURN(const uint64_t row_bytes, RecipeRowBytes(recipe));
  if (first < 0 || count < 0 || first > recipe.rows || count > recipe.rows - first)
    return OutOfRangeError("recipe: {} rows from {} on, of {}", count, first, recipe.rows);
  if (count == 0 || row_bytes == 0) return std::string_view();
  if (recipe.kind == Recipe::Kind::kFile || recipe.kind == Recipe::Kind::kInline)
    return StoredRows(recipe, first * row_bytes, count * row_bytes, source);
  storage.resize(count * row_bytes);
  TBOOST_RETURN_IF_ERROR(Evaluate(recipe, first, count, source, storage.data()));
  return std::string_view(storage);
}

}  // namespace tboost
