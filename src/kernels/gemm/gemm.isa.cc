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
#include "src/kernels/gemm/micro_kernel-inl.h"
#include "src/kernels/gemm/rows-inl.h"

namespace tboost::kernels::TBOOST_ISA {
namespace {

struct Range {
  int64_t first, count;
};

// Part i of `count` things cut into the fewest parts of at most `largest` (in multiples of `unit`),
// as equal as can be.
inline Range EvenPart(int64_t count, int64_t largest, int64_t unit, int64_t i) {
  const int64_t units = count / unit, parts = CeilDiv(count, largest);
  const int64_t first = i * units / parts, end = (i + 1) * units / parts;
  return {first * unit, (end - first) * unit};
}

// One task's tile and where its scratch memory lies.
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

Tile MakeTile(const GemmArgs& args, int64_t task, Scratch scratch) {
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

// Few rows: weights decoded in registers, all of k at a time.
template <class Weights>
void RunDirect(const Tile& tile) {
  constexpr int64_t kStretch = 4;  // panels from epilogue to epilogue
  const GemmArgs& args = tile.args;
  const int64_t stride = PanelStride(args);
  const auto [first_row, rows] = tile.rows;
  const int64_t kernel_panels = DirectPanels<Weights>(static_cast<int>(rows));
  PackRows(args, tile.statistics, first_row, rows, 0, args.k, tile.packed_rows);
  for (int64_t i = 0; i < CeilDiv(tile.panels.count, kStretch); ++i) {
    const Range stretch = EvenPart(tile.panels.count, kStretch, tile.unit(), i);
    const int64_t first_panel = tile.panels.first + stretch.first;
    const char* panels = static_cast<const char*>(args.panels) + first_panel * stride;
    for (int64_t p = 0; p < stretch.count; p += kernel_panels) {
      const int64_t left = stretch.count - p, count = left < kernel_panels ? left : kernel_panels;
      kDirectKernels<Weights>.kernel[rows - 1][count - 1](
          {tile.packed_rows, panels + p * stride, stride, 0, args.k,
           tile.sums + p * tile.sums_stride, tile.sums_stride, false});
    }
    Epilogue(args, tile.sums, tile.sums_stride, first_row, rows, first_panel, stretch.count);
  }
}

// Many rows: pairs of panels decoded to f32 once for all rows, a block of k at a time.
template <class Weights>
void RunBlocked(const Tile& tile) {
  const GemmArgs& args = tile.args;
  const int64_t stride = PanelStride(args), row_blocks = CeilDiv(tile.rows.count, kPairRows);
  for (int64_t k = 0; k < args.k; k += kBlockK) {
    const int64_t k_count = args.k - k < kBlockK ? args.k - k : kBlockK;
    const int64_t k_decoded = RoundUpTo(k_count, Weights::kGroup);
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
      if constexpr (Weights::kDType != DType::kF32) {
        for (int64_t i = 0; i < pair; ++i)
          DecodePanel<Weights>(panels + i * stride, k, k_count,
                               tile.weights + i * kBlockK * kVectorLanes);
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
  for (int64_t r = 0; r < tile.rows.count; ++r)
    tile.statistics[r] = Statistics(args.norm.kind, args.norm.eps,
                                    args.a + (tile.rows.first + r) * args.lda, args.k);
  WithWeights(args.weight_dtype, [&](auto weights) {
    if (tile.rows.count <= kDirectRows)
      RunDirect<decltype(weights)>(tile);
    else
      RunBlocked<decltype(weights)>(tile);
  });
}

}  // namespace tboost::kernels::TBOOST_ISA
