// A task of many rows: pairs of panels, decoded to f32 once for all rows, a block of k at a time.
// Included by ISA sources only.
//
// A block of k is finished for the whole task before the next: the rows' share of it and that of
// two pairs of panels stay in the L2 cache. Partial sums are kept in f32, exactly as they are.
#pragma once

#include "src/kernels/gemm/direct.h"
#include "src/kernels/gemm/epilogue-inl.h"
#include "src/kernels/gemm/pair_kernel-inl.h"
#include "src/kernels/gemm/rows-inl.h"
#include "src/kernels/gemm/tile-inl.h"

namespace tboost::kernels::TBOOST_ISA {

class ManyRows {
 public:
  ManyRows(const Tile& tile, const WeightFormat& format)
      : tile_(tile),
        args_(tile.args),
        format_(format),
        stride_(PanelStride(tile.args)),
        row_blocks_(CeilDiv(tile.rows.count, kPairRows)) {}

  void Run() const {
    ComputeStatistics(tile_);
    const int64_t k = RoundUpTo(args_.k, kChunk);
    for (int64_t i = 0; i < CeilDiv(k, args_.tile_k); ++i) {
      const Range block = EvenPart(k, args_.tile_k, kChunk, i);
      const int64_t left = args_.k - block.first;
      for (int64_t p = 0; p < tile_.panels.count; p += 2)
        RunPair({block.first, left < block.count ? left : block.count}, p);
    }
  }

 private:
  const char* Panel(int64_t p) const {  // the p-th of the tile
    return static_cast<const char*>(args_.panels) + (tile_.panels.first + p) * stride_;
  }

  // A block of k of the panels p and, where there is one, p + 1.
  void RunPair(Range k, int64_t p) const {
    const int64_t panels = tile_.panels.count - p < 2 ? 1 : 2;
    PairCall call = {};
    call.panels = Panel(p);
    call.panel_stride = stride_;
    call.k_first = k.first;
    call.k_count = RoundUpTo(k.count, format_.group);
    call.sums = tile_.sums + (k.count < args_.k ? p * tile_.sums_stride : 0);
    call.sums_stride = tile_.sums_stride;
    call.add = k.first > 0;
    if (format_.decode) {
      for (int64_t i = 0; i < panels; ++i)
        format_.decode(Panel(p + i), k.first, k.count,
                       tile_.weights + i * args_.tile_k * kVectorLanes);
      call.panels = reinterpret_cast<const char*>(tile_.weights);
      call.panel_stride = args_.tile_k * kVectorLanes * int64_t{sizeof(float)};
      call.k_first = 0;
    }
    SetNext(k, p, call);
    for (int64_t b = 0; b < row_blocks_; ++b) {
      const Range rows = EvenPart(tile_.rows.count, kPairRows, 1, b);
      RunBlock(k, rows, p, panels, call);
      call.sums += rows.count * kVectorLanes;
      call.next += call.next_bytes;
    }
  }

  // Which bytes the first block of rows fetches.
  void SetNext(Range k, int64_t p, PairCall& call) const {
    int64_t next = p + 2, k_first = k.first;
    if (next >= tile_.panels.count) {
      k_first += k.count;
      next = 0;
      if (k_first == args_.k) {  // the next task
        k_first = 0;
        next = tile_.panels.count;
        if (tile_.panels.first + next >= CeilDiv(args_.n, kPanelColumns))
          next = -tile_.panels.first;
      }
    }
    call.next = Panel(next) + stride_ * k_first / args_.k;
    call.next_stride = stride_;
    call.next_bytes = RoundUpTo(CeilDiv(stride_ * k.count / args_.k, row_blocks_), kLineBytes);
    call.bytes_a_chunk = RoundUpTo(CeilDiv(call.next_bytes, CeilDiv(k.count, kChunk)), kLineBytes);
  }

  void RunBlock(Range k, Range rows, int64_t p, int64_t panels, PairCall& call) const {
    float* packed = tile_.packed_rows + rows.first * RoundUpTo(k.count, kChunk);
    if (p == 0)
      PackRows(args_, tile_.statistics + rows.first, tile_.rows.first + rows.first, rows.count,
               k.first, k.count, packed);
    call.rows = packed;
    kPairKernels.kernel[rows.count - 1][panels - 1](call);
    if (k.first + k.count == args_.k)
      Epilogue(args_, call.sums, tile_.sums_stride, tile_.rows.first + rows.first, rows.count,
               tile_.panels.first + p, panels);
  }

  const Tile& tile_;
  const GemmArgs& args_;
  const WeightFormat& format_;
  const int64_t stride_, row_blocks_;
};

}  // namespace tboost::kernels::TBOOST_ISA
