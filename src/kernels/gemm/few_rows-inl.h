// A task of few rows: weights decoded in registers, all of k at a time. Included by ISA sources
// only.
#pragma once

#include "src/kernels/gemm/direct.h"
#include "src/kernels/gemm/epilogue-inl.h"
#include "src/kernels/gemm/rows-inl.h"
#include "src/kernels/gemm/tile-inl.h"

namespace tboost::kernels::TBOOST_ISA {

// Panels [first, first + count) of the task, times all of its rows, into tile.sums.
inline void MultiplyFewRows(const Tile& tile, const WeightFormat& format, Range panels,
                            int64_t row_blocks, int64_t kernel_panels) {
  const GemmArgs& args = tile.args;
  const int64_t stride = PanelStride(args), row_floats = RoundUpTo(args.k, kChunk);
  const char* first = static_cast<const char*>(args.panels) + panels.first * stride;
  for (int64_t b = 0; b < row_blocks; ++b) {
    const Range block = EvenPart(tile.rows.count, kDirectRows, 1, b);
    for (int64_t p = 0; p < panels.count; p += kernel_panels) {
      const int64_t left = panels.count - p, count = left < kernel_panels ? left : kernel_panels;
      float* sums = tile.sums + p * tile.sums_stride + block.first * kVectorLanes;
      format.direct[block.count - 1][count - 1]({tile.packed_rows + block.first * row_floats,
                                                 first + p * stride, stride, 0, args.k, sums,
                                                 tile.sums_stride, false});
    }
  }
}

inline void RunFewRows(const Tile& tile, const WeightFormat& format) {
  const GemmArgs& args = tile.args;
  const int64_t stride = PanelStride(args), unit = tile.unit();
  const int64_t row_blocks = CeilDiv(tile.rows.count, kDirectRows);
  const int64_t kernel_panels = format.direct_panels[CeilDiv(tile.rows.count, row_blocks) - 1];
  // From epilogue to epilogue.
  int64_t step = kernel_panels > unit ? kernel_panels - kernel_panels % unit : unit;
  // Groups of one size fetch ahead just what the next one reads.
  if (step == 4 && unit == 1 && tile.panels.count % 4 != 0 && tile.panels.count % 3 == 0) step = 3;
  const char* panels = static_cast<const char*>(args.panels) + tile.panels.first * stride;
  for (int64_t p = 0; p < step; ++p)  // on their way while the rows are packed
    for (int64_t line = 0; line < kPrefetchBytes; line += 64) Prefetch(panels + p * stride + line);
  ComputeStatistics(tile);
  for (int64_t b = 0; b < row_blocks; ++b) {
    const Range block = EvenPart(tile.rows.count, kDirectRows, 1, b);
    PackRows<F32Words>(args, tile.statistics + block.first, tile.rows.first + block.first,
                       block.count, 0, args.k,
                       tile.packed_rows + block.first * RoundUpTo(args.k, kChunk));
  }
  for (int64_t i = 0; i < CeilDiv(tile.panels.count, step); ++i) {
    Range part = EvenPart(tile.panels.count, step, unit, i);
    part.first += tile.panels.first;
    MultiplyFewRows(tile, format, part, row_blocks, kernel_panels);
    Epilogue(args, tile.sums, tile.sums_stride, tile.rows.first, tile.rows.count, part.first,
             part.count);
  }
}

}  // namespace tboost::kernels::TBOOST_ISA
