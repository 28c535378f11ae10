// Sizes that the parts of the int8 product share.
#pragma once

#include "src/kernels/gemm/gemm_sizes.h"

namespace tboost::kernels {

// Codes of rows lie as [k / kCodeChunk][rows of a block][kCodeChunk], filled up with zeros.
inline constexpr int64_t kCodeChunk = 64;
// k of a word of a panel.
inline constexpr int64_t kCodesPerWord = 4;
// Rows of a micro-kernel, on any instruction set.
inline constexpr int64_t kMostCodeRows = 14;

// How a task's scratch memory is cut; in bytes.
struct Int8Scratch {
  int64_t row;     // [k] f32: a row before its codes
  int64_t scales;  // [rows] f32
  int64_t starts;  // [rows] i32
  int64_t zeros;   // [rows] i32
  int64_t sums;    // [2][kMostCodeRows][16] f32
  int64_t codes;   // of all rows; up to two bytes each
  int64_t end;
};
Int8Scratch DivideScratch(const GemmInt8Args& args);

}  // namespace tboost::kernels
