// The product of rows that are quantised on the way with int8 weights: one task is a tile of rows
// and columns.
//
//   quantise the rows, normalised
//   for each pair of panels
//     for each block of rows: micro-kernel over all of k, integer sums in registers
//                             scales and epilogue, into c
//
// Weights are stored as unsigned codes: w + u with u the largest code + 1. So a sum over k exceeds
// that of w * code by u times the sum of the row's codes, and starts from minus that; and that of w
// * code exceeds the one wanted, of w * (code - z), by z times the sum of the column's w, which is
// subtracted last. Sums may wrap on the way; the last one cannot.
#include "src/kernels/gemm/epilogue-inl.h"
#include "src/kernels/gemm/tile-inl.h"
#include "src/kernels/gemm_int8/quantize_rows-inl.h"

namespace tboost::kernels::TBOOST_ISA {
namespace {

struct MicroKernelCall {
  const char* codes;      // [k / kCodeChunk][R][kCodeChunk]
  const float* scales;    // [R]
  const int32_t* starts;  // [R]
  const int32_t* zeros;   // [R]
  const char* panels;     // the first of P panels
  int64_t panel_stride;   // bytes
  int64_t words;          // of a panel's column
  float* sums;            // [P][R][16]
  const char* fetch;      // lines to fetch meanwhile
  int64_t fetch_lines;
};
using MicroKernel = void (*)(const MicroKernelCall& call);

template <class Dot, int R, int P>
void RunMicroKernel(const MicroKernelCall& call) {
  constexpr int64_t kWordBytes = kVectorLanes * 4;  // of a row of words, one a column
  constexpr int64_t kRowBytes = kCodeChunk * Dot::kCodeBytes;
  I32x16 sums[R][P];
  Unroll<R>([&](auto r) TBOOST_INLINE_LAMBDA {
    Unroll<P>([&](auto p) TBOOST_INLINE_LAMBDA { sums[r][p] = SetInt1(call.starts[r]); });
  });
  const char *codes = call.codes,
             *words = call.panels + 2 * kWordBytes;  // behind the scales and sums
  int64_t fetched = 0;
  for (int64_t left = call.words; left > 0; left -= kCodeChunk / kCodesPerWord) {
    const int64_t count = left < kCodeChunk / kCodesPerWord ? left : kCodeChunk / kCodesPerWord;
    const char* at = codes;
    for (int64_t i = 0; i < count; ++i, words += kWordBytes) {
      for (int line = 0; line < 2 && fetched < call.fetch_lines; ++line)
        Prefetch(call.fetch + 64 * fetched++);
      typename Dot::Weights weights[P];
      Unroll<P>([&](auto p) TBOOST_INLINE_LAMBDA {
        weights[p] = Dot::Load(words + p * call.panel_stride);
      });
      Unroll<R>([&](auto r) TBOOST_INLINE_LAMBDA {
        Unroll<P>([&](auto p) TBOOST_INLINE_LAMBDA {
          sums[r][p] = Dot::AddProducts(sums[r][p], weights[p], at + r * kRowBytes);
        });
      });
      at += kCodesPerWord * Dot::kCodeBytes;
    }
    codes += R * kRowBytes;
  }
  Unroll<P>([&](auto p) TBOOST_INLINE_LAMBDA {
    const char* panel = call.panels + p * call.panel_stride;
    const F32x16 scales = Load(reinterpret_cast<const float*>(panel));
    const I32x16 weights = LoadWords(panel + kWordBytes);  // their sums
    Unroll<R>([&](auto r) TBOOST_INLINE_LAMBDA {
      const F32x16 scale = Set1(call.scales[r]) * scales;
      const I32x16 sum = sums[r][p] - MultiplyInt(SetInt1(call.zeros[r]), weights);
      Store(ToFloat(sum) * scale, call.sums + (p * R + r) * kVectorLanes);
    });
  });
}

// Panels and rows of a micro-kernel: as many sums as registers hold, of two panels (a gate and its
// up) where there are many.
inline constexpr int kPanels = kVectorRegisters >= 32 ? 2 : 1;
template <class Dot>
inline constexpr int kRows = Dot::kSumRegisters / (kPanels * kParts);

template <class Dot>
struct MicroKernels {
  MicroKernel kernel[kRows<Dot>][kPanels] = {};
};
template <class Dot>
constexpr MicroKernels<Dot> MakeKernels() {
  MicroKernels<Dot> table;
  Unroll<kRows<Dot>>([&](auto r) {
    Unroll<kPanels>([&](auto p) { table.kernel[r][p] = &RunMicroKernel<Dot, r + 1, p + 1>; });
  });
  return table;
}
template <class Dot>
inline constexpr MicroKernels<Dot> kKernels = MakeKernels<Dot>();

// Rows [first_row, + rows) and columns of panels [first_panel, + panels).
template <class Dot>
void RunTile(const GemmInt8Args& args, Range rows, Range panels, char* scratch) {
  static_assert(kRows<Dot> <= kMostCodeRows);
  const Int8Scratch parts = DivideScratch(args);
  float* row = reinterpret_cast<float*>(scratch + parts.row);
  float* scales = reinterpret_cast<float*>(scratch + parts.scales);
  int32_t* starts = reinterpret_cast<int32_t*>(scratch + parts.starts);
  int32_t* zeros = reinterpret_cast<int32_t*>(scratch + parts.zeros);
  float* sums = reinterpret_cast<float*>(scratch + parts.sums);
  char* codes = scratch + parts.codes;
  const int64_t stride = PanelStride(args);
  const int64_t row_bytes = RoundUpTo(args.k, kCodeChunk) * Dot::kCodeBytes;
  const int64_t blocks = CeilDiv(rows.count, kRows<Dot>);
  const uint32_t offset = args.weight_dtype == DType::kInt7 ? 64 : 128;
  for (int64_t b = 0; b < blocks; ++b) {
    const Range block = EvenPart(rows.count, kRows<Dot>, 1, b);
    for (int64_t r = 0; r < block.count; ++r) {
      const int64_t at = block.first + r;
      const CodeRow code_row = QuantizeRow<Dot>(args, rows.first + at, row, r, block.count,
                                                codes + block.first * row_bytes);
      scales[at] = code_row.scale;
      starts[at] = static_cast<int32_t>(0 - offset * code_row.sum);
      zeros[at] = code_row.zero;
    }
  }
  for (int64_t p = 0; p < panels.count; p += 2) {
    const int64_t pair = panels.count - p < 2 ? 1 : 2;
    // Of the pair that follows, each block of rows fetches its part.
    const int64_t next = panels.count - p - pair < 2 ? panels.count - p - pair : 2;
    const int64_t fetch_lines = CeilDiv(next * stride / 64, blocks);
    const int64_t first_panel = panels.first + p;
    const char* first = static_cast<const char*>(args.panels) + first_panel * stride;
    for (int64_t b = 0; b < blocks; ++b) {
      const Range block = EvenPart(rows.count, kRows<Dot>, 1, b);
      const int64_t sums_stride = block.count * kVectorLanes;
      MicroKernelCall call = {codes + block.first * row_bytes,
                              scales + block.first,
                              starts + block.first,
                              zeros + block.first,
                              first,
                              stride,
                              CeilDiv(args.k, kCodesPerWord),
                              sums,
                              first + pair * stride + b * fetch_lines * 64,
                              fetch_lines};
      for (int64_t i = 0; i < pair; i += kPanels) {
        const int64_t count = pair - i < kPanels ? pair - i : kPanels;
        call.panels = first + i * stride;
        call.sums = sums + i * sums_stride;
        kKernels<Dot>.kernel[block.count - 1][count - 1](call);
        call.fetch_lines = 0;
      }
      Epilogue(args, sums, sums_stride, rows.first + block.first, block.count, first_panel, pair);
    }
  }
}

}  // namespace

void gemm_int8(const GemmInt8Args& args, int64_t task, Scratch scratch) {
  const int64_t column_tiles = CeilDiv(args.n, args.tile_n);
  const int64_t row = task / column_tiles * args.tile_m;
  const int64_t column = task % column_tiles * args.tile_n;
  const int64_t rows = args.m - row < args.tile_m ? args.m - row : args.tile_m;
  const int64_t columns = args.n - column < args.tile_n ? args.n - column : args.tile_n;
  const Range tile_rows = {row, rows};
  const Range tile_panels = {column / kPanelColumns, CeilDiv(columns, kPanelColumns)};
  if constexpr (kExactDot8)
    RunTile<ByteDot>(args, tile_rows, tile_panels, scratch.data);
  else if (args.weight_dtype == DType::kInt7)
    RunTile<ByteDot>(args, tile_rows, tile_panels, scratch.data);
  else
    RunTile<WideDot>(args, tile_rows, tile_panels, scratch.data);
}

}  // namespace tboost::kernels::TBOOST_ISA
