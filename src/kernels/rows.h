// How the row-wise kernels (norms, activations, embeddings...) cut their rows into tasks.
#pragma once

#include <cstdint>

namespace tboost::kernels {

// Rows of one task when a row has `floats` elements: about 64 KiB, at least one row.
constexpr int64_t RowsPerTask(int64_t floats) {
  constexpr int64_t kFloats = 16384;
  return floats >= kFloats ? 1 : kFloats / (floats > 0 ? floats : 1);
}

constexpr int64_t RowTasks(int64_t rows, int64_t floats) {
  const int64_t step = RowsPerTask(floats);
  return (rows + step - 1) / step;
}

// The rows [first, end) of a task.
struct RowRange {
  int64_t first, end;
};
constexpr RowRange RowsOfTask(int64_t task, int64_t rows, int64_t floats) {
  const int64_t step = RowsPerTask(floats), first = task * step;
  return {first, first + step < rows ? first + step : rows};
}

}  // namespace tboost::kernels
