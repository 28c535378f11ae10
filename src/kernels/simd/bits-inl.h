// Choosing bit by bit. Included by ISA sources only.
#pragma once

#include "src/kernels/simd/simd.h"

namespace tboost::kernels::TBOOST_ISA {

// The bits of `a` where those of kMask are set, else those of `b`.
template <uint32_t kMask>
TBOOST_INLINE I32x16 SelectBits(I32x16 a, I32x16 b) {
#if defined(TBOOST_ISA_avx512)
  constexpr int kFirstPicksSecondElseThird = 0xca;
  return {_mm512_ternarylogic_epi32(native::SetInt1(static_cast<int32_t>(kMask)), a.part[0],
                                    b.part[0], kFirstPicksSecondElseThird)};
#else
  return (a & SetInt1(static_cast<int32_t>(kMask))) | (b & SetInt1(static_cast<int32_t>(~kMask)));
#endif
}

}  // namespace tboost::kernels::TBOOST_ISA
