#include "src/kernels/kernels.h"
#include "src/kernels/rows.h"
#include "src/kernels/simd/math-inl.h"
#include "src/kernels/simd/span-inl.h"

namespace tboost::kernels::TBOOST_ISA {

// A row of nothing but -inf becomes 0, as a row of attention that sees no key does.
void softmax(const SoftmaxArgs& args, int64_t task, Scratch) {
  constexpr float kMinusInfinity = -__builtin_inff();
  const RowRange rows = RowsOfTask(task, args.m, args.k);
  for (int64_t r = rows.first; r < rows.end; ++r) {
    const float* x = args.x + r * args.ldx;
    float* out = args.out + r * args.ldo;
    F32x16 lanes_max = Set1(kMinusInfinity);
    ForVectors(args.k, [&](int64_t i, auto span) TBOOST_INLINE_LAMBDA {
      lanes_max = Max(lanes_max, span.Keep(span.LoadFrom(x + i), Set1(kMinusInfinity)));
    });
    const float max = ReduceMax(lanes_max);
    const F32x16 shift = Set1(max == kMinusInfinity ? 0 : max);
    const float sum = SumVectors(args.k, [&](int64_t i, auto span) TBOOST_INLINE_LAMBDA {
      const F32x16 weight = Exp(span.LoadFrom(x + i) - shift);
      span.StoreTo(weight, out + i);
      return weight;
    });
    const F32x16 inverse = Set1(sum == 0 ? 0 : 1 / sum);
    ForVectors(args.k, [&](int64_t i, auto span) TBOOST_INLINE_LAMBDA {
      span.StoreTo(span.LoadFrom(out + i) * inverse, out + i);
    });
  }
}

}  // namespace tboost::kernels::TBOOST_ISA
