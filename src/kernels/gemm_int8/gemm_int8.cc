// Tasks, scratch memory and tiles of the int8 product: the same for every instruction set.
#include "src/kernels/gemm_int8/gemm_int8_sizes.h"

namespace tboost::kernels {

Int8Scratch DivideScratch(const GemmInt8Args& args) {
  constexpr int64_t kLine = 64, kWord = 4;
  const int64_t k = RoundUpTo(args.k, kCodeChunk);
  const int64_t rows = RoundUpTo(args.tile_m * kWord, kLine);
  Int8Scratch parts;
  parts.row = 0;
  parts.scales = parts.row + k * kWord;
  parts.starts = parts.scales + rows;
  parts.zeros = parts.starts + rows;
  parts.sums = parts.zeros + rows;
  parts.codes = parts.sums + 2 * kMostCodeRows * kPanelColumns * kWord;
  parts.end = parts.codes + args.tile_m * k * 2;
  return parts;
}

int64_t Tasks(const GemmInt8Args& args) { return Tasks(static_cast<const GemmArgs&>(args)); }

size_t ScratchBytes(const GemmInt8Args& args) {
  return static_cast<size_t>(DivideScratch(args).end);
}

namespace {

// About how long a task takes, in cycles of a core that adds 128 products each.
double TaskCycles(double rows, double panels, double k) {
  constexpr double kTask = 2000;       // starting it
  constexpr double kMultiply = 0.14;   // a row's element and a panel's codes
  constexpr double kQuantize = 0.6;    // a row's element
  constexpr double kFetchPanel = 1.5;  // a panel's codes
  constexpr double kEpilogue = 10;     // a row's vector of results
  return kTask + k * (rows * panels * kMultiply + rows * kQuantize + panels * kFetchPanel) +
         rows * panels * kEpilogue;
}

}  // namespace

void ChooseTile(GemmInt8Args& args, int threads, int64_t l2_bytes) {
  constexpr double kStraggler = 0.2;  // how much of a task threads may end apart
  constexpr int64_t kTasksPerThread = 8;
  const int64_t unit = args.gated ? 2 : 1;
  const int64_t units = CeilDiv(args.n, kPanelColumns * unit);
  double best = 0;
  args.tile_m = 1;  // of a product without rows or columns
  args.tile_n = unit * kPanelColumns;
  for (int64_t row_tiles = 1; row_tiles <= CeilDiv(args.m, kMostCodeRows); ++row_tiles) {
    const int64_t tile_m = CeilDiv(args.m, row_tiles);
    // The codes of a task's rows stay in the L2 cache.
    if (tile_m > kMostCodeRows && tile_m * args.k > l2_bytes / 2) continue;
    for (int64_t column_tiles = 1; column_tiles <= units; ++column_tiles) {
      const int64_t panels = CeilDiv(units, column_tiles) * unit;
      const int64_t tasks = CeilDiv(args.m, tile_m) * CeilDiv(units * unit, panels);
      const auto rounds = static_cast<double>(CeilDiv(tasks, threads));
      const double cycles = (rounds + kStraggler) * TaskCycles(tile_m, panels, args.k);
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
