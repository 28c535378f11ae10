// The search for a product's tile, over a model of its cost.
#pragma once

#include <algorithm>
#include <array>

#include "src/kernels/gemm/gemm_sizes.h"

namespace tboost::kernels {

// The tiles of the least cycles, each once, in order; of equal ones that which came first.
class BestTiles {
 public:
  void Add(double cycles, int64_t rows, int64_t panels) {
    Tile* place = tiles_.data();
    for (; place != end_ && place->cycles <= cycles; ++place)
      if (place->rows == rows && place->panels == panels) return;
    if (place == tiles_.end()) return;
    if (end_ != tiles_.end()) ++end_;
    std::move_backward(place, end_ - 1, end_);
    *place = {cycles, rows, panels};
  }
  struct Tile {
    double cycles;
    int64_t rows, panels;
  };
  // The one of that rank, the last where there are fewer; `none` where there is none.
  Tile Get(int rank, const Tile& none) const {
    return end_ == tiles_.data() ? none : *std::min<const Tile*>(tiles_.data() + rank, end_ - 1);
  }

 private:
  std::array<Tile, kTileRanks> tiles_ = {};
  Tile* end_ = tiles_.data();
};

// Sets tile_m and tile_n to those of the least time for `threads` threads, or to others by rank.
// `model` has
//   kRowUnit                     rows of a micro-kernel: a tile of so many always fits
//   kStraggler                   how much of a task threads may end apart
//   RowsFit(tile_m)              whether a task's share of the rows stays in the cache
//   PanelsFit(tile_m, panels)    whether what several panels need does
//   TaskCycles(tile_m, panels)   about how long a task takes
template <class Model>
void SearchTile(GemmArgs& args, int threads, int rank, const Model& model) {
  constexpr int64_t kTasksPerThread = 8;
  const int64_t unit = args.gated ? 2 : 1;
  const int64_t units = CeilDiv(args.n, kPanelColumns * unit);
  BestTiles best;
  for (int64_t row_tiles = 1; row_tiles <= CeilDiv(args.m, Model::kRowUnit); ++row_tiles) {
    const int64_t tile_m = CeilDiv(args.m, row_tiles);
    if (tile_m > Model::kRowUnit && !model.RowsFit(tile_m)) continue;
    for (int64_t column_tiles = 1; column_tiles <= units; ++column_tiles) {
      const int64_t panels = CeilDiv(units, column_tiles) * unit;
      if (panels > unit && !model.PanelsFit(tile_m, panels)) continue;
      const int64_t tasks = CeilDiv(args.m, tile_m) * CeilDiv(units * unit, panels);
      const auto rounds = static_cast<double>(CeilDiv(tasks, threads));
      best.Add((rounds + Model::kStraggler) * model.TaskCycles(tile_m, panels), tile_m, panels);
      if (tasks > kTasksPerThread * threads) break;
    }
  }
  const BestTiles::Tile tile = best.Get(rank, {0, 1, unit});  // none: no rows or no columns
  args.tile_m = tile.rows;
  args.tile_n = tile.panels * kPanelColumns;
}

}  // namespace tboost::kernels
