#include "src/kernels/kernels.h"
#include "src/kernels/rows.h"
#include "src/kernels/simd/math-inl.h"
#include "src/kernels/simd/span-inl.h"

namespace tboost::kernels::TBOOST_ISA {

void activation(const ActivationArgs& args, int64_t task, Scratch) {
  const RowRange rows = RowsOfTask(task, args.m, args.k);
  for (int64_t r = rows.first; r < rows.end; ++r) {
    const float* x = args.x + r * args.ldx;
    float* out = args.out + r * args.ldo;
    ForVectors(args.k, [&](int64_t i, auto span) TBOOST_INLINE_LAMBDA {
      span.StoreTo(Activate(args.activation, span.LoadFrom(x + i)), out + i);
    });
  }
}

}  // namespace tboost::kernels::TBOOST_ISA
