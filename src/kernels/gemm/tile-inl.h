// A task of the matrix product: its tile of rows and columns, and where its scratch memory lies.
// Included by ISA sources only.
#pragma once

#include "src/kernels/gemm/gemm_sizes.h"
#include "src/kernels/norm/norm-inl.h"

namespace tboost::kernels::TBOOST_ISA {

struct Range {
  int64_t first, count;
};

// Part i of `count` things cut into the fewest parts of at most `largest` (both multiples of
// `unit`), as equal as can be; the larger parts come first.
inline Range EvenPart(int64_t count, int64_t largest, int64_t unit, int64_t i) {
  const int64_t units = count / unit, parts = CeilDiv(count, largest);
  const int64_t least = units / parts, longer = units % parts;
  return {(i * least + (i < longer ? i : longer)) * unit, (least + (i < longer ? 1 : 0)) * unit};
}

struct Tile {
  const GemmArgs& args;
  Range rows, panels;
  RowStatistics* statistics;
  float* packed_rows;
  float* weights;
  float* sums;
  int64_t sums_stride;

  // `unit`: panels that stay together.
  int64_t unit() const { return args.gated ? 2 : 1; }
};

inline Tile MakeTile(const GemmArgs& args, int64_t task, Scratch scratch) {
  const int64_t column_tiles = CeilDiv(args.n, args.tile_n);
  const int64_t row = task / column_tiles * args.tile_m;
  const int64_t column = task % column_tiles * args.tile_n;
  const int64_t rows = args.m - row < args.tile_m ? args.m - row : args.tile_m;
  const int64_t columns = args.n - column < args.tile_n ? args.n - column : args.tile_n;
  const GemmScratch parts = DivideScratch(args);
  float* floats = reinterpret_cast<float*>(scratch.data);
  return {args,
          {row, rows},
          {column / kPanelColumns, CeilDiv(columns, kPanelColumns)},
          reinterpret_cast<RowStatistics*>(floats + parts.statistics),
          floats + parts.rows,
          floats + parts.weights,
          floats + parts.sums,
          rows * kVectorLanes};
}

// Of the norm, for the rows of the tile.
inline void ComputeStatistics(const Tile& tile) {
  const GemmArgs& args = tile.args;
  for (int64_t r = 0; r < tile.rows.count; ++r)
    tile.statistics[r] = Statistics(args.norm.kind, args.norm.eps,
                                    args.a + (tile.rows.first + r) * args.lda, args.k);
}

}  // namespace tboost::kernels::TBOOST_ISA
