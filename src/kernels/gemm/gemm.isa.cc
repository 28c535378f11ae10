// The matrix product with packed weights: one task is a tile of rows and columns.
//
//   statistics of the rows' norm
//   for each block of k (all of k, of few rows)
//     pack the rows' share of it, normalised
//     for each group of panels
//       [decode them to f32, of many rows]
//       for each block of rows: micro-kernel, into the tile of sums
//                               behind the last block of k: epilogue, into c
#include "src/kernels/gemm/epilogue-inl.h"
#include "src/kernels/gemm/few_rows-inl.h"
#include "src/kernels/gemm/pair_kernel-inl.h"

namespace tboost::kernels::TBOOST_ISA {
namespace {

// Many rows: pairs of panels decoded to f32 once for all rows, a block of k at a time.
void RunManyRows(const Tile& tile, const WeightFormat& format) {
  const GemmArgs& args = tile.args;
  ComputeStatistics(tile);
  const int64_t stride = PanelStride(args), row_blocks = CeilDiv(tile.rows.count, kPairRows);
  for (int64_t k = 0; k < args.k; k += kBlockK) {
    const int64_t k_count = args.k - k < kBlockK ? args.k - k : kBlockK;
    const int64_t k_decoded = RoundUpTo(k_count, format.group);
    const int64_t row_floats = RoundUpTo(k_count, kChunk);
    for (int64_t b = 0; b < row_blocks; ++b) {
      const Range block = EvenPart(tile.rows.count, kPairRows, 1, b);
      PackRows(args, tile.statistics + block.first, tile.rows.first + block.first, block.count, k,
               k_count, tile.packed_rows + block.first * row_floats);
    }
    for (int64_t p = 0; p < tile.panels.count; p += 2) {
      const int64_t pair = tile.panels.count - p < 2 ? 1 : 2;
      const char* panels = static_cast<const char*>(args.panels) + (tile.panels.first + p) * stride;
      float* sums = tile.sums + p * tile.sums_stride;
      MicroKernelCall call = {nullptr, panels, stride, k, k_decoded, sums, tile.sums_stride, k > 0};
      if (format.decode) {
        for (int64_t i = 0; i < pair; ++i)
          format.decode(panels + i * stride, k, k_count, tile.weights + i * kBlockK * kVectorLanes);
        call.panels = reinterpret_cast<const char*>(tile.weights);
        call.panel_stride = kBlockK * kVectorLanes * int64_t{sizeof(float)};
        call.k_first = 0;
      }
      for (int64_t b = 0; b < row_blocks; ++b) {
        const Range block = EvenPart(tile.rows.count, kPairRows, 1, b);
        call.rows = tile.packed_rows + block.first * row_floats;
        call.sums = sums + block.first * kVectorLanes;
        kPairKernels.kernel[block.count - 1][pair - 1](call);
        if (k + k_count == args.k)
          Epilogue(args, call.sums, tile.sums_stride, tile.rows.first + block.first, block.count,
                   tile.panels.first + p, pair);
      }
    }
  }
}

}  // namespace

void gemm(const GemmArgs& args, int64_t task, Scratch scratch) {
  const Tile tile = MakeTile(args, task, scratch);
  const WeightFormat& format = FormatOf(args.weight_dtype);
  if (tile.rows.count <= kFewRows)
    RunFewRows(tile, format);
  else
    RunManyRows(tile, format);
}

}  // namespace tboost::kernels::TBOOST_ISA
