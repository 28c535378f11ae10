// Constants are recipes: where the bytes lie in a source file and what is done to them on the way
// into the .om. Only small ones are held in memory.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "src/tensor/dtype.h"
#include "src/tensor/shape.h"

namespace tboost {

// A tree of transforms over matrices of `rows` rows in a storage format; every kind can produce any
// range of its rows alone, so a tensor is written without being held whole. A vector is one row, or
// one column where a transform works on its elements. Made by the functions of recipe_builders.h,
// which validate.
struct Recipe {
  enum class Kind : uint8_t {
    kFile,            // `bytes` bytes at `offset` of source file `file`
    kInline,          // the bytes in `data`
    kConcatRows,      // the inputs one below the other (same dtype, same row length)
    kInterleaveRows,  // 16 rows of the first input, 16 of the second, and so on
    kRopeHalves,      // each head of `param` rows: from pairs (2i, 2i + 1) to halves (i, i + half)
    kCast,            // to `dtype` (plain types, int8, int7; from any)
    kAddScalar,       // f32: every element + `scalar`
  };
  Kind kind = Kind::kFile;
  DType dtype = DType::kF32;  // of the result
  int64_t rows = 0, columns = 0;
  int file = 0;
  uint64_t offset = 0;
  std::string data;
  int64_t param = 0;
  double scalar = 0;
  // Shared: recipes are immutable and tied weights name one.
  std::vector<std::shared_ptr<const Recipe>> inputs;
};

using RecipePtr = std::shared_ptr<const Recipe>;

}  // namespace tboost
