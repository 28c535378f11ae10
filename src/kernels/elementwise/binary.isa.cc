#include "src/kernels/kernels.h"
#include "src/kernels/rows.h"
#include "src/kernels/simd/span-inl.h"

namespace tboost::kernels::TBOOST_ISA {

void binary(const BinaryArgs& args, int64_t task, Scratch) {
  const RowRange rows = RowsOfTask(task, args.m, args.k);
  for (int64_t r = rows.first; r < rows.end; ++r) {
    const float* x = args.x + r * args.ldx;
    const float* y = args.y + r * args.ldy;
    float* out = args.out + r * args.ldo;
    ForVectors(args.k, [&](int64_t i, auto span) TBOOST_INLINE_LAMBDA {
      const F32x16 a = span.LoadFrom(x + i), b = span.LoadFrom(y + i);
      span.StoreTo(args.multiply ? a * b : a + b, out + i);
    });
  }
}

}  // namespace tboost::kernels::TBOOST_ISA
