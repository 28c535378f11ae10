// Evaluating recipes: the bytes of a constant, any range of rows at a time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "src/base/function_ref.h"
#include "src/base/status.h"
#include "src/graph/constant.h"

namespace tboost {

// Gives `bytes` bytes from `offset` of source file `file`; they stay valid until evaluation
// returns, and where a result is a view of them, as long as it is used.
using SourceBytes =
    FunctionRef<Result<std::string_view>(int file, uint64_t offset, uint64_t bytes)>;

// The source of recipes that read no file.
struct NoSource {
  Result<std::string_view> operator()(int file, uint64_t, uint64_t) const;
};
inline constexpr NoSource kNoSource;

// Bytes of one row of the result.
Result<uint64_t> RecipeRowBytes(const Recipe& recipe);

// Rows [first, first + count) in the recipe's format, one after the other. Where they lie so in a
// source (a file or inline), the result is a view of it; else it is a view of `storage`, which is
// overwritten. Memory needed: the rows themselves, and those of the inputs under a cast.
Result<std::string_view> EvaluateRecipeRows(const Recipe& recipe, int64_t first, int64_t count,
                                            SourceBytes source, std::string& storage);

}  // namespace tboost
