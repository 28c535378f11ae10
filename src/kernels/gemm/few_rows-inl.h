// A task of few rows: weights decoded in registers, all of k at a time. Included by ISA sources
// only.
#pragma once

#include "src/kernels/gemm/direct.h"
#include "src/kernels/gemm/epilogue-inl.h"
#include "src/kernels/gemm/rows-inl.h"
#include "src/kernels/gemm/tile-inl.h"

namespace tboost::kernels::TBOOST_ISA {

inline void RunFewRows(const Tile& tile, const WeightFormat& format) {
  constexpr int64_t kStretch = 4;  // panels from epilogue to epilogue
  const GemmArgs& args = tile.args;
  const int64_t stride = PanelStride(args);
  const auto [first_row, rows] = tile.rows;
  const int64_t kernel_panels = format.direct_panels[rows - 1];
  PackRows(args, tile.statistics, first_row, rows, 0, args.k, tile.packed_rows);
  for (int64_t i = 0; i < CeilDiv(tile.panels.count, kStretch); ++i) {
    const Range stretch = EvenPart(tile.panels.count, kStretch, tile.unit(), i);
    const int64_t first_panel = tile.panels.first + stretch.first;
    const char* panels = static_cast<const char*>(args.panels) + first_panel * stride;
    for (int64_t p = 0; p < stretch.count; p += kernel_panels) {
      const int64_t left = stretch.count - p, count = left < kernel_panels ? left : kernel_panels;
      format.direct[rows - 1][count - 1]({tile.packed_rows, panels + p * stride, stride, 0, args.k,
                                          tile.sums + p * tile.sums_stride, tile.sums_stride,
                                          false});
    }
    Epilogue(args, tile.sums, tile.sums_stride, first_row, rows, first_panel, stretch.count);
  }
}

}  // namespace tboost::kernels::TBOOST_ISA
