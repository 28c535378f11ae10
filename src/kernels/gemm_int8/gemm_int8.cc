// Tasks, scratch memory and tiles of the int8 product: the same for every instruction set.
#include "src/kernels/gemm_int8/gemm_int8_sizes.h"

#include "src/kernels/gemm/tile_search.h"

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

// Of a core that adds 128 products each cycle. All of k is summed in registers: no sums are kept.
struct TileModel {
  static constexpr int64_t kRowUnit = kMostCodeRows;
  static constexpr double kStraggler = 0.2;
  int64_t k;
  int64_t bytes;  // of the L2 cache, for the codes of a task's rows

  bool RowsFit(int64_t tile_m) const { return tile_m * k <= bytes; }
  bool PanelsFit(int64_t, int64_t) const { return true; }
  double TaskCycles(double rows, double panels) const {
    constexpr double kTask = 2000;       // starting it
    constexpr double kMultiply = 0.14;   // a row's element and a panel's codes
    constexpr double kQuantize = 0.6;    // a row's element
    constexpr double kFetchPanel = 1.5;  // a panel's codes
    constexpr double kEpilogue = 10;     // a row's vector of results
    return kTask +
           static_cast<double>(k) *
               (rows * panels * kMultiply + rows * kQuantize + panels * kFetchPanel) +
           rows * panels * kEpilogue;
  }
};

}  // namespace

void ChooseTile(GemmInt8Args& args, int threads, int64_t l2_bytes, int rank) {
  SearchTile(args, threads, rank, TileModel{args.k, l2_bytes / 2});
}

}  // namespace tboost::kernels
