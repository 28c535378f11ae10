// A task of many rows: pairs of panels, decoded to f32 once for all rows, a block of k at a time.
// Included by ISA sources only.
//
// A block of k is finished for the whole task before the next: the rows' share of it and that of
// two pairs of panels stay in the L2 cache. Partial sums are kept in f32, exactly as they are. k is
// counted in words.
#pragma once

#include "src/kernels/gemm/direct.h"
#include "src/kernels/gemm/epilogue-inl.h"
#include "src/kernels/gemm/pair_kernel-inl.h"
#include "src/kernels/gemm/rows-inl.h"
#include "src/kernels/gemm/tile-inl.h"

namespace tboost::kernels::TBOOST_ISA {

template <class Words>
class ManyRows {
 public:
  // `format` of weights that are no words yet, or null.
  ManyRows(const Tile& tile, const WeightFormat* format)
      : tile_(tile),
        args_(tile.args),
        format_(format && format->decode ? format : nullptr),
        stride_(PanelStride(tile.args)),
        words_(CeilDiv(tile.args.k, Words::kElements)),
        row_blocks_(CeilDiv(tile.rows.count, kPairRows)) {}

  void Run() const {
    ComputeStatistics(tile_);
    const int64_t k = RoundUpTo(words_, kChunk);
    for (int64_t i = 0; i < CeilDiv(k, args_.tile_k); ++i) {
      const Range block = EvenPart(k, args_.tile_k, kChunk, i);
      const int64_t left = words_ - block.first;
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
    call.k_count = k.count;
    call.sums = tile_.sums + (k.count < words_ ? p * tile_.sums_stride : 0);
    call.sums_stride = tile_.sums_stride;
    call.add = k.first > 0;
    if (format_) {
      for (int64_t i = 0; i < panels; ++i)
        format_->decode(Panel(p + i), k.first, k.count,
                        tile_.weights + i * args_.tile_k * kVectorLanes);
      call.panels = reinterpret_cast<const char*>(tile_.weights);
      call.panel_stride = args_.tile_k * kVectorLanes * int64_t{sizeof(float)};
      call.k_first = 0;
      call.k_count = RoundUpTo(k.count, format_->group);
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
      if (k_first == words_) {  // the next task
        k_first = 0;
        next = tile_.panels.count;
        if (tile_.panels.first + next >= CeilDiv(args_.n, kPanelColumns))
          next = -tile_.panels.first;
      }
    }
    call.next = Panel(next) + stride_ * k_first / words_;
    call.next_stride = stride_;
    call.next_bytes = RoundUpTo(CeilDiv(stride_ * k.count / words_, row_blocks_), kLineBytes);
    call.bytes_a_chunk = RoundUpTo(CeilDiv(call.next_bytes, CeilDiv(k.count, kChunk)), kLineBytes);
  }

  void RunBlock(Range k, Range rows, int64_t p, int64_t panels, PairCall& call) const {
    float* packed = tile_.packed_rows + rows.first * RoundUpTo(k.count, kChunk);
    if (p == 0) {
      const int64_t first = k.first * Words::kElements, count = k.count * Words::kElements;
      PackRows<Words>(args_, tile_.statistics + rows.first, tile_.rows.first + rows.first,
                      rows.count, first, args_.k - first < count ? args_.k - first : count, packed);
    }
    const bool last = k.first + k.count == words_;
    if (last && args_.residual) FetchResidual(rows, p, panels);
    call.rows = packed;
    kPairKernels<Words>.kernel[rows.count - 1][panels - 1](call);
    if (last)
      Epilogue(args_, call.sums, tile_.sums_stride, tile_.rows.first + rows.first, rows.count,
               tile_.panels.first + p, panels);
  }

  // What the epilogue of a block adds. Always inlined: GCC drops calls of a function that does
  // nothing but prefetch.
  TBOOST_INLINE void FetchResidual(Range rows, int64_t p, int64_t panels) const {
    const int64_t column = (tile_.panels.first + p) / tile_.unit() * kVectorLanes;
    const float* first = args_.residual + (tile_.rows.first + rows.first) * args_.ldr + column;
    for (int64_t r = 0; r < rows.count; ++r)
      for (int64_t i = 0; i < panels / tile_.unit(); ++i)
        PrefetchL2(first + r * args_.ldr + i * kVectorLanes);
  }

  const Tile tile_;
  const GemmArgs& args_;
  const WeightFormat* const format_;
  const int64_t stride_, words_, row_blocks_;
};

}  // namespace tboost::kernels::TBOOST_ISA
