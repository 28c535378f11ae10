// The kernels of one weight format, made from its description (weights-inl.h). Included by ISA
// sources only.
#pragma once

#include "src/kernels/gemm/direct.h"
#include "src/kernels/gemm/weights-inl.h"

namespace tboost::kernels::TBOOST_ISA {

template <class Weights>
constexpr int DirectPanels(int rows) {
  constexpr int kMost = Weights::kGroup > 2 && kVectorRegisters < 32 ? 2 : kDirectPanels;
  return kDirectSums / rows < kMost ? kDirectSums / rows : kMost;
}

// Fetches as much as a chunk of P panels ahead: of the next P panels in the order in which they
// lie, because memory gives more to one stream than to P; or, where those are more than the caches
// keep beside the rest, of these panels, and behind their end of the next ones.
template <class Weights, int P>
TBOOST_INLINE void PrefetchPanels(const MicroKernelCall& call, int64_t k) {
  constexpr int64_t kBytes = Weights::kChunkBytes;
  const int64_t first = (call.k_first + k) / kChunk * kBytes;
  if (P * call.panel_stride <= kMostAheadBytes) {
    const char* next = call.panels + P * (call.panel_stride + first);
    for (int64_t line = 0; line < P * kBytes; line += 64) Prefetch(next + line);
    return;
  }
  int64_t offset = first + kPrefetchBytes;
  if (offset >= call.panel_stride) offset += (P - 1) * call.panel_stride;
  for (int p = 0; p < P; ++p)
    for (int64_t line = 0; line < kBytes; line += 64)
      Prefetch(call.panels + p * call.panel_stride + offset + line);
}

// sums[p][r] += rows[r][k] * W[p][k], k ascending.
template <class Weights, int R, int P>
void RunDirectKernel(const MicroKernelCall& call) {
  F32x16 sums[R][P];
  StartSums(call, sums);
  const float* row = call.rows;
  for (int64_t k = 0; k < call.k_count; k += kChunk) {
    if constexpr (Weights::kDType != DType::kF32) PrefetchPanels<Weights, P>(call, k);
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
  StoreSums(sums, call);
}

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

template <class Weights>
constexpr WeightFormat MakeFormat() {
  WeightFormat format = {};
  format.dtype = Weights::kDType;
  Unroll<kDirectRows>([&](auto r) {
    constexpr int kPanels = DirectPanels<Weights>(r + 1);
    format.direct_panels[r] = kPanels;
    Unroll<kPanels>([&](auto p) { format.direct[r][p] = &RunDirectKernel<Weights, r + 1, p + 1>; });
  });
  if constexpr (Weights::kDType != DType::kF32) format.decode = &DecodePanel<Weights>;
  format.group = Weights::kGroup;
  return format;
}

}  // namespace tboost::kernels::TBOOST_ISA
