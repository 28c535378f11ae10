// Tasks, scratch memory and tiles of the matrix product: the same for every instruction set.
#include <algorithm>

#include "src/kernels/gemm/tile_search.h"

namespace tboost::kernels {

int64_t PanelStride(const GemmArgs& args) {
  return static_cast<int64_t>(PanelBytes(args.weight_dtype, args.k).value_or(0));
}

GemmScratch DivideScratch(const GemmArgs& args) {
  constexpr int64_t kLine = 16;  // floats of a cache line
  const int64_t rows = args.tile_m, panels = CeilDiv(args.tile_n, kPanelColumns);
  const int64_t k = RoundUpTo(args.k, kChunk);
  const int64_t direct = (rows < kMaxFewRows ? rows : kMaxFewRows) * k;
  const int64_t blocked = rows * (k < args.tile_k ? k : args.tile_k);
  GemmScratch parts;
  parts.statistics = 0;
  parts.rows = RoundUpTo(2 * rows, kLine);
  parts.weights = parts.rows + (direct > blocked ? direct : blocked);
  parts.sums = parts.weights + 2 * args.tile_k * kPanelColumns;
  parts.end = parts.sums + panels * rows * kPanelColumns;
  return parts;
}

int64_t Tasks(const GemmArgs& args) {
  return CeilDiv(args.m, args.tile_m) * CeilDiv(args.n, args.tile_n);
}

GemmArgs SliceGemm(const GemmArgs& args, const GemmRegion& region) {
  const int64_t column = args.gated ? region.column / 2 : region.column;
  GemmArgs slice = args;
  slice.m = slice.tile_m = region.rows;
  slice.n = slice.tile_n = region.columns;
  slice.a += region.row * args.lda;
  slice.panels =
      static_cast<const char*>(args.panels) + region.column / kPanelColumns * PanelStride(args);
  if (args.bias) slice.bias += region.column;
  if (args.residual) slice.residual += region.row * args.ldr + column;
  slice.c += region.row * args.ldc + column;
  return slice;
}

size_t ScratchBytes(const GemmArgs& args) {
  return static_cast<size_t>(DivideScratch(args).end) * sizeof(float);
}

namespace {

// Of a core with 16 lanes.
struct TileModel {
  static constexpr int64_t kRowUnit = 14;
  static constexpr double kStraggler = 0.03;
  int64_t k, tile_k;
  int64_t floats;  // of the L2 cache: for packed rows, and again for sums

  bool RowsFit(int64_t tile_m) const { return tile_m * std::min(k, tile_k) <= floats; }
  // Only partial sums are kept.
  bool PanelsFit(int64_t tile_m, int64_t panels) const {
    return k <= tile_k || tile_m * panels * kPanelColumns <= floats;
  }
  double TaskCycles(double rows, double panels) const {
    constexpr double kTask = 2000;      // starting it
    constexpr double kMultiply = 0.54;  // a row's element and a panel's vector
    constexpr double kPackRow = 0.6;    // packing the element
    constexpr double kFetchPanel = 1;   // fetching and decoding the vector
    return kTask + static_cast<double>(k) *
                       (rows * panels * kMultiply + rows * kPackRow + panels * kFetchPanel);
  }
};

}  // namespace

void ChooseTile(GemmArgs& args, int threads, int64_t l2_bytes, int rank) {
  constexpr int64_t kRows = 128, kLeastK = 128, kMostK = 1024;  // that a block of k is meant for
  // Of the L2 cache, packed rows get 3/8; as much is left for two pairs of panels and sums.
  const int64_t packed = l2_bytes / int64_t{sizeof(float)} * 3 / 8;
  args.tile_k = std::clamp(packed / kRows / kChunk * kChunk, kLeastK, kMostK);
  SearchTile(args, threads, rank, TileModel{args.k, args.tile_k, packed});
}

}  // namespace tboost::kernels
