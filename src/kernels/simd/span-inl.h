// Loops over a row of floats of any length, 16 at a time, the last ones masked. Included by ISA
// sources only.
#pragma once

#include "src/kernels/simd/simd.h"

namespace tboost::kernels::TBOOST_ISA {

// 16 elements.
struct WholeSpan {
  TBOOST_INLINE F32x16 LoadFrom(const float* p) const { return Load(p); }
  TBOOST_INLINE void StoreTo(F32x16 x, float* p) const { Store(x, p); }
  TBOOST_INLINE F32x16 Keep(F32x16 x, F32x16) const { return x; }
};

// The first n of 16: no other memory is touched.
struct PartialSpan {
  int n;
  TBOOST_INLINE F32x16 LoadFrom(const float* p) const { return LoadPartial(p, n); }
  TBOOST_INLINE void StoreTo(F32x16 x, float* p) const { StorePartial(x, p, n); }
  // x in the lanes that stand for elements, `rest` in the others.
  TBOOST_INLINE F32x16 Keep(F32x16 x, F32x16 rest) const { return Select(FirstLanes(n), x, rest); }
};

// body(i, span) for the elements [i, i + 16) of k, ascending.
template <class Body>
TBOOST_INLINE void ForVectors(int64_t k, const Body& body) {
  int64_t i = 0;
  for (; i + 16 <= k; i += 16) body(i, WholeSpan{});
  if (i < k) body(i, PartialSpan{static_cast<int>(k - i)});
}

// The sum over all elements of the vectors term(i, span), in one order: four partial sums take the
// vectors in turn, the last of them go to the first sum. Lanes past the end do not count.
template <class Term>
TBOOST_INLINE float SumVectors(int64_t k, const Term& term) {
  F32x16 sums[4] = {Zero(), Zero(), Zero(), Zero()};
  int64_t i = 0;
  for (; i + 64 <= k; i += 64) {
    Unroll<4>([&](auto j)
                  TBOOST_INLINE_LAMBDA { sums[j] = sums[j] + term(i + j * 16, WholeSpan{}); });
  }
  for (; i + 16 <= k; i += 16) sums[0] = sums[0] + term(i, WholeSpan{});
  if (i < k) {
    const PartialSpan rest{static_cast<int>(k - i)};
    sums[0] = sums[0] + rest.Keep(term(i, rest), Zero());
  }
  return ReduceAdd((sums[0] + sums[1]) + (sums[2] + sums[3]));
}

}  // namespace tboost::kernels::TBOOST_ISA
