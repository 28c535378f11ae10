// The innermost part of the matrix product: a few rows times a few panels, sums in registers; what
// its forms share. Included by ISA sources only.
#pragma once

#include "src/kernels/simd/simd.h"

namespace tboost::kernels::TBOOST_ISA {

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

template <int R, int P>
TBOOST_INLINE void StartSums(const MicroKernelCall& call, F32x16 (&sums)[R][P]) {
  Unroll<R>([&](auto r) TBOOST_INLINE_LAMBDA {
    Unroll<P>([&](auto p) TBOOST_INLINE_LAMBDA { sums[r][p] = Zero(); });
  });
  if (!call.add) return;
  Unroll<R>([&](auto r) TBOOST_INLINE_LAMBDA {
    Unroll<P>([&](auto p) TBOOST_INLINE_LAMBDA {
      sums[r][p] = Load(call.sums + p * call.sums_stride + r * kVectorLanes);
    });
  });
}

template <int R, int P>
TBOOST_INLINE void StoreSums(const F32x16 (&sums)[R][P], const MicroKernelCall& call) {
  Unroll<R>([&](auto r) TBOOST_INLINE_LAMBDA {
    Unroll<P>([&](auto p) TBOOST_INLINE_LAMBDA {
      Store(sums[r][p], call.sums + p * call.sums_stride + r * kVectorLanes);
    });
  });
}

}  // namespace tboost::kernels::TBOOST_ISA
