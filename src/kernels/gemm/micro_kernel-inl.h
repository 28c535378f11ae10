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
// Blocks of weights decoded in registers: bound by memory, so few rows; several panels, so that
// enough independent sums hide the latency of the multiplication.
inline constexpr int kDirectRows = kVectorRegisters >= 32 ? 4 : kParts <= 2 ? 2 : 1;
inline constexpr int kDirectPanels = kVectorRegisters >= 32 ? 4 : 2;
static_assert(kDirectRows <= kMaxDirectRows);

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
    typename Weights::Head heads[P];
    Unroll<P>([&](auto p) TBOOST_INLINE_LAMBDA {
      heads[p] = Weights::At(call.panels + p * call.panel_stride, call.k_first + k);
    });
    const int64_t left = call.k_count - k < kChunk ? call.k_count - k : kChunk;
    const int64_t groups = (left + Weights::kGroup - 1) / Weights::kGroup;
    const float* element = row;
    for (int64_t g = 0; g < groups; ++g, element += Weights::kGroup) {
      typename Weights::Group group[P];
      Unroll<P>([&](auto p) TBOOST_INLINE_LAMBDA { group[p] = Weights::Read(heads[p], g); });
      Unroll<Weights::kGroup>([&](auto j) TBOOST_INLINE_LAMBDA {
        F32x16 w[P];
        Unroll<P>([&](auto p)
                      TBOOST_INLINE_LAMBDA { w[p] = Weights::template Value<j>(group[p]); });
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

// Micro-kernels of a format by rows and panels: at(rows, panels).
template <class Weights, int kRows, int kPanels>
struct MicroKernels {
  MicroKernel kernel[kRows][kPanels];
  constexpr MicroKernels() : kernel{} {
    Unroll<kRows>([&](auto r) {
      Unroll<kPanels>([&](auto p) { kernel[r][p] = &RunMicroKernel<Weights, r + 1, p + 1>; });
    });
  }
  MicroKernel at(int64_t rows, int64_t panels) const { return kernel[rows - 1][panels - 1]; }
};

// Decodes `count` k of a panel from k_first on to f32: w[k][16].
template <class Weights>
void DecodePanel(const char* panel, int64_t k_first, int64_t count, float* w) {
  for (int64_t k = 0; k < count; k += kChunk) {
    const typename Weights::Head head = Weights::At(panel, k_first + k);
    const int64_t left = count - k < kChunk ? count - k : kChunk;
    for (int64_t g = 0; g * Weights::kGroup < left; ++g) {
      const typename Weights::Group group = Weights::Read(head, g);
      Unroll<Weights::kGroup>([&](auto j) TBOOST_INLINE_LAMBDA {
        Store(Weights::template Value<j>(group), w + j * kVectorLanes);
      });
      w += Weights::kGroup * kVectorLanes;
    }
  }
}

}  // namespace tboost::kernels::TBOOST_ISA
