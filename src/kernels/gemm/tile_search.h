// The search for a product's tile, over a model of its cost.
#pragma once

#include "src/kernels/gemm/gemm_sizes.h"

namespace tboost::kernels {

// Sets tile_m and tile_n to those of the least time for `threads` threads. `model` has
//   kRowUnit                     rows of a micro-kernel: a tile of so many always fits
//   kStraggler                   how much of a task threads may end apart
//   RowsFit(tile_m)              whether a task's share of the rows stays in the cache
//   PanelsFit(tile_m, panels)    whether what several panels need does
//   TaskCycles(tile_m, panels)   about how long a task takes
template <class Model>
void SearchTile(GemmArgs& args, int threads, const Model& model) {
  constexpr int64_t kTasksPerThread = 8;
  const int64_t unit = args.gated ? 2 : 1;
  const int64_t units = CeilDiv(args.n, kPanelColumns * unit);
  double best = 0;
  args.tile_m = 1;  // of a product without rows or columns
  args.tile_n = unit * kPanelColumns;
  for (int64_t row_tiles = 1; row_tiles <= CeilDiv(args.m, Model::kRowUnit); ++row_tiles) {
    const int64_t tile_m = CeilDiv(args.m, row_tiles);
    if (tile_m > Model::kRowUnit && !model.RowsFit(tile_m)) continue;
    for (int64_t column_tiles = 1; column_tiles <= units; ++column_tiles) {
      const int64_t panels = CeilDiv(units, column_tiles) * unit;
      if (panels > unit && !model.PanelsFit(tile_m, panels)) continue;
      const int64_t tasks = CeilDiv(args.m, tile_m) * CeilDiv(units * unit, panels);
      const auto rounds = static_cast<double>(CeilDiv(tasks, threads));
      const double cycles = (rounds + Model::kStraggler) * model.TaskCycles(tile_m, panels);
      if (best == 0 || cycles < best) {
        best = cycles;
        args.tile_m = tile_m;
        args.tile_n = panels * kPanelColumns;
      }
      if (tasks > kTasksPerThread * threads) break;
    }
  }
}

}  // namespace tboost::kernels
