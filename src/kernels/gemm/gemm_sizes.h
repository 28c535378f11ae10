// Sizes that the parts of the matrix product share.
#pragma once

#include <cstddef>
#include <cstdint>

#include "src/kernels/kernels.h"

namespace tboost::kernels {

// k is walked in chunks: packed rows lie as [k / kChunk][rows of a block][kChunk].
inline constexpr int64_t kChunk = 32;
// At most so many rows are few: multiplied with weights decoded in registers, all of k at a time.
inline constexpr int64_t kMaxFewRows = 16;
// Bytes from panel to panel.
int64_t PanelStride(const GemmArgs& args);

// How a task's scratch memory is cut; in floats.
struct GemmScratch {
  int64_t statistics;  // [rows][2]
  int64_t rows;        // packed rows
  int64_t weights;     // [2][tile_k][16]: decoded panels
  int64_t sums;        // [panels][rows][16]
  int64_t end;
};
GemmScratch DivideScratch(const GemmArgs& args);

constexpr int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }
constexpr int64_t RoundUpTo(int64_t a, int64_t b) { return CeilDiv(a, b) * b; }

}  // namespace tboost::kernels
