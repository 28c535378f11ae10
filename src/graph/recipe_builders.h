// Builders of recipes: each checks what its kind needs, so that every recipe in a graph can be
// evaluated. Pure functions; recipes are immutable and shared.
#pragma once

#include <vector>

#include "src/base/status.h"
#include "src/graph/constant.h"

namespace tboost {

// A matrix stored in source file `file` from byte `offset`, in its storage format.
Result<RecipePtr> FileRecipe(int file, uint64_t offset, DType dtype, int64_t rows, int64_t columns);
// A matrix whose bytes are `data`.
Result<RecipePtr> InlineRecipe(DType dtype, int64_t rows, int64_t columns, std::string data);
// An f32 matrix, by value.
Result<RecipePtr> InlineRecipe(int64_t rows, int64_t columns, const std::vector<float>& data);
// Inputs of one format and row length, one below the other.
Result<RecipePtr> ConcatRows(std::vector<RecipePtr> inputs);
// Inputs of one format, row length and number of rows (a multiple of 16), in turns of 16 rows.
Result<RecipePtr> InterleaveRows(std::vector<RecipePtr> inputs);
// Heads of `head_rows` (even) rows, from pairs (2i, 2i + 1) to halves (i, i + head_rows / 2).
Result<RecipePtr> RopeHalves(RecipePtr input, int64_t head_rows);
// From these and quantised formats to f32, f16, bf16, int8 or int7; the input itself where it has
// that format already.
Result<RecipePtr> Cast(RecipePtr input, DType dtype);
// f32 only: every element + `scalar`.
Result<RecipePtr> AddScalar(RecipePtr input, double scalar);
// A vector in a plain format, rearranged to one element per row, so that ConcatRows and
// InterleaveRows work on its elements. The bytes stay as they are.
Result<RecipePtr> AsColumn(RecipePtr input);

}  // namespace tboost
