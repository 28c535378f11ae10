// The micro-kernel of many rows: two panels of f32 (a gate and its up). Included by ISA sources
// only.
#pragma once

#include "src/kernels/gemm/gemm_sizes.h"
#include "src/kernels/gemm/micro_kernel-inl.h"

namespace tboost::kernels::TBOOST_ISA {

// As many rows as there are registers for sums, in vectors of 16; the others hold weights and an
// element of a row.
inline constexpr int kPairSums = (kVectorRegisters - 4) / kParts;
inline constexpr int kPairRows = kPairSums / 2 > 0 ? kPairSums / 2 : 1;

// Weights come from memory too slowly for the first block of rows that needs them. So each block
// of rows fetches its share of the next pair, evenly spread over its k.
struct PairCall : MicroKernelCall {
  const char* next;       // a share of each of P panels
  int64_t next_stride;    // bytes from panel to panel
  int64_t next_bytes;     // a panel's share
  int64_t bytes_a_chunk;  // of it
};
using PairKernel = void (*)(const PairCall& call);

template <int P>
TBOOST_INLINE void FetchNext(const PairCall& call, int64_t chunk) {
  const int64_t first = chunk * call.bytes_a_chunk, end = first + call.bytes_a_chunk;
  for (int64_t i = first; i < end && i < call.next_bytes; i += kLineBytes)
    for (int p = 0; p < P; ++p) PrefetchL2(call.next + p * call.next_stride + i);
}

// sums[p][r] += rows[r][k] * W[p][k], k ascending; counts are of words.
template <class Words, int R, int P>
void RunPairKernel(const PairCall& call) {
  F32x16 sums[R][P];
  StartSums(call, sums);
  const float *row = call.rows, *w = reinterpret_cast<const float*>(call.panels);
  const int64_t stride = call.panel_stride / int64_t{sizeof(float)};
  w += call.k_first * kVectorLanes;
  for (int64_t k = 0; k < call.k_count; k += kChunk) {
    FetchNext<P>(call, k / kChunk);
    const int64_t left = call.k_count - k < kChunk ? call.k_count - k : kChunk;
    for (int64_t i = 0; i < left; ++i, w += kVectorLanes) {
      F32x16 weights[P];
      Unroll<P>([&](auto p) TBOOST_INLINE_LAMBDA { weights[p] = Load(w + p * stride); });
      Unroll<R>([&](auto r) TBOOST_INLINE_LAMBDA {
        const F32x16 a = Set1(row[r * kChunk + i]);
        Unroll<P>([&](auto p) TBOOST_INLINE_LAMBDA {
          sums[r][p] = Words::AddProducts(a, weights[p], sums[r][p]);
        });
      });
    }
    row += R * kChunk;
  }
  StoreSums(sums, call);
}

struct PairKernels {
  PairKernel kernel[kPairRows][2] = {};  // [rows - 1][panels - 1]
};
template <class Words>
constexpr PairKernels MakePairKernels() {
  PairKernels table;
  Unroll<kPairRows>([&](auto r) {
    Unroll<2>([&](auto p) { table.kernel[r][p] = &RunPairKernel<Words, r + 1, p + 1>; });
  });
  return table;
}
template <class Words>
inline constexpr PairKernels kPairKernels = MakePairKernels<Words>();

}  // namespace tboost::kernels::TBOOST_ISA
