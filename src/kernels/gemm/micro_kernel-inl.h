// The innermost part of the matrix product: a few rows times a few panels, sums in registers.
// Included by ISA sources only.
#pragma once

#include "src/kernels/gemm/weights-inl.h"

namespace tboost::kernels::TBOOST_ISA {

// The registers that may hold sums, in vectors of 16; the others hold weights and an element of a
// row.
inline constexpr int kSumRegisters = (kVectorRegisters - 4) / kParts;
// Blocks of f32 weights: two panels (a gate and its up) and as many rows as fit.
inline constexpr int kPairRows = kSumRegisters / 2 > 0 ? kSumRegisters / 2 : 1;
// Blocks of weights decoded in registers: half of the registers for sums, in enough panels that the
// independent sums hide the latency of the multiplication; decoding codes needs the other half.
inline constexpr int kDirectSums = kVectorRegisters / 2 / kParts;
inline constexpr int kDirectRows = kDirectSums < kMaxDirectRows ? kDirectSums : kMaxDirectRows;
inline constexpr int kDirectPanels = 4;
template <class Weights>
constexpr int DirectPanels(int rows) {
  constexpr int kMost = Weights::kGroup > 2 && kVectorRegisters < 32 ? 2 : kDirectPanels;
  return kDirectSums / rows < kMost ? kDirectSums / rows : kMost;
}

// Quantised weights are fetched this far ahead of the decoding, which is too slow to run ahead
// itself.
inline constexpr int64_t kPrefetchBytes = 2048;

struct MicroKernelCall {
  const float* rows;     // [k / kChunk][R][kChunk]
  const char* panels;    // the first of P panels
  int64_t panel_stride;  // bytes
  int64_t k_first;       // of the panels, a multiple of kChunk
  int64_t k_count;
  float* sums;          // [P][..][16]: rows follow each other
  int64_t sums_stride;  // floats from panel to panel
  bool add;             // to what the sums hold already
};
using MicroKernel = void (*)(const MicroKernelCall& call);

// Fetches a chunk's bytes, kPrefetchBytes ahead, of each of P panels; behind a panel's end those of
// the panel that the next call starts with.
template <class Weights, int P>
TBOOST_INLINE void PrefetchPanels(const MicroKernelCall& call, int64_t k) {
  int64_t offset = (call.k_first + k) / kChunk * Weights::kChunkBytes + kPrefetchBytes;
  if (offset >= call.panel_stride) offset += (P - 1) * call.panel_stride;
  for (int p = 0; p < P; ++p)
    for (int64_t line = 0; line < Weights::kChunkBytes; line += 64)
      Prefetch(call.panels + p * call.panel_stride + offset + line);
}

// sums[p][r] += rows[r][k] * W[p][k], k ascending.
template <class Weights, int R, int P>
void RunMicroKernel(const MicroKernelCall& call) {
  F32x16 sums[R][P];
  Unroll<R>([&](auto r) TBOOST_INLINE_LAMBDA {
    Unroll<P>([&](auto p) TBOOST_INLINE_LAMBDA { sums[r][p] = Zero(); });
  });
  if (call.add) {
    Unroll<R>([&](auto r) TBOOST_INLINE_LAMBDA {
      Unroll<P>([&](auto p) TBOOST_INLINE_LAMBDA {
        sums[r][p] = Load(call.sums + p * call.sums_stride + r * kVectorLanes);
      });
    });
  }
  const float* row = call.rows;
  for (int64_t k = 0; k < call.k_count; k += kChunk) {
    if constexpr (Weights::kGroup > 2) PrefetchPanels<Weights, P>(call, k);
    typename Weights::Head heads[P];
    Unroll<P>([&](auto p) TBOOST_INLINE_LAMBDA {
      Weights::At(call.panels + p * call.panel_stride, call.k_first + k, heads[p]);
    });
    const int64_t left = call.k_count - k < kChunk ? call.k_count - k : kChunk;
    const int64_t groups = (left + Weights::kGroup - 1) / Weights::kGroup;
    const float* element = row;
    for (int64_t g = 0; g < groups; ++g, element += Weights::kGroup) {
      typename Weights::Group group[P];
      Unroll<P>([&](auto p) TBOOST_INLINE_LAMBDA { Weights::Read(heads[p], g, group[p]); });
      Unroll<Weights::kGroup>([&](auto j) TBOOST_INLINE_LAMBDA {
        F32x16 w[P];
        Unroll<P>([&](auto p) TBOOST_INLINE_LAMBDA {
          w[p] = Weights::template Value<j>(heads[p], group[p]);
        });
        Unroll<R>([&](auto r) TBOOST_INLINE_LAMBDA {
          const F32x16 a = Set1(element[r * kChunk + j]);
          Unroll<P>([&](auto p) TBOOST_INLINE_LAMBDA { sums[r][p] = Fma(a, w[p], sums[r][p]); });
        });
      });
    }
    row += R * kChunk;
  }
  Unroll<R>([&](auto r) TBOOST_INLINE_LAMBDA {
    Unroll<P>([&](auto p) TBOOST_INLINE_LAMBDA {
      Store(sums[r][p], call.sums + p * call.sums_stride + r * kVectorLanes);
    });
  });
}

// Micro-kernels: kernel[rows - 1][panels - 1].
template <int kRows, int kPanels>
struct MicroKernels {
  MicroKernel kernel[kRows][kPanels] = {};
};
template <class Weights>
constexpr auto MakeDirectKernels() {
  MicroKernels<kDirectRows, kDirectPanels> table;
  Unroll<kDirectRows>([&](auto r) {
    Unroll<DirectPanels<Weights>(r + 1)>(
        [&](auto p) { table.kernel[r][p] = &RunMicroKernel<Weights, r + 1, p + 1>; });
  });
  return table;
}
constexpr auto MakePairKernels() {
  MicroKernels<kPairRows, 2> table;
  Unroll<kPairRows>([&](auto r) {
    Unroll<2>([&](auto p) { table.kernel[r][p] = &RunMicroKernel<F32Weights, r + 1, p + 1>; });
  });
  return table;
}
template <class Weights>
inline constexpr auto kDirectKernels = MakeDirectKernels<Weights>();
inline constexpr auto kPairKernels = MakePairKernels();

// Decodes `count` k of a panel from k_first on to f32: w[k][16].
template <class Weights>
void DecodePanel(const char* panel, int64_t k_first, int64_t count, float* w) {
  for (int64_t k = 0; k < count; k += kChunk) {
    typename Weights::Head head;
    Weights::At(panel, k_first + k, head);
    const int64_t left = count - k < kChunk ? count - k : kChunk;
    for (int64_t g = 0; g * Weights::kGroup < left; ++g) {
      typename Weights::Group group;
      Weights::Read(head, g, group);
      Unroll<Weights::kGroup>([&](auto j) TBOOST_INLINE_LAMBDA {
        Store(Weights::template Value<j>(head, group), w + j * kVectorLanes);
      });
      w += Weights::kGroup * kVectorLanes;
    }
  }
}

}  // namespace tboost::kernels::TBOOST_ISA
