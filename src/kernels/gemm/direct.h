// Products with weights as they are stored: the kernels of each weight format, compiled apart from
// those of many rows. Included by ISA sources only.
#pragma once

#include "src/kernels/gemm/gemm_sizes.h"
#include "src/kernels/gemm/micro_kernel-inl.h"

namespace tboost::kernels::TBOOST_ISA {

// Half of the registers hold sums, in enough panels that the independent sums hide the latency of
// the multiplication; decoding codes needs the other half.
inline constexpr int kDirectSums = kVectorRegisters / 2 / kParts;
inline constexpr int kDirectRows = kDirectSums < kMaxFewRows ? kDirectSums : int{kMaxFewRows};
inline constexpr int kDirectPanels = 4;
// More rows are worth decoding for, once, in the blocks of many rows.
inline constexpr int64_t kFewRows = 4 * kDirectRows < kMaxFewRows ? 4 * kDirectRows : kMaxFewRows;

// Weights are fetched ahead of their decoding, which is too slow to run ahead itself: a group of
// panels during the one before, up to so many bytes of it.
inline constexpr int64_t kMostAheadBytes = 128 << 10;
// This far ahead of larger groups, and of a task. A multiple of 1 KiB would fall into few of the
// sets of the L1 cache, beside what is being read.
inline constexpr int64_t kPrefetchBytes = 3584;

struct WeightFormat {
  DType dtype;
  // Weights decoded in registers: direct[rows - 1][panels - 1].
  MicroKernel direct[kDirectRows][kDirectPanels];
  int64_t direct_panels[kDirectRows];  // at most, for [rows - 1]
  // Decodes `count` k of a panel from k_first on, rounded up to `group` k, to f32: w[k][16]. Null:
  // the panel is that already.
  void (*decode)(const char* panel, int64_t k_first, int64_t count, float* w);
  int64_t group;
};

// Of the sources direct_*.isa.cc.
extern const WeightFormat kPlainFormats[3], kNibbleFormats[3], kWideFormats[3];

const WeightFormat& FormatOf(DType dtype);

}  // namespace tboost::kernels::TBOOST_ISA
