#include "src/kernels/norm/norm-inl.h"

#include "src/kernels/kernels.h"
#include "src/kernels/rows.h"

namespace tboost::kernels::TBOOST_ISA {

void norm(const NormArgs& args, int64_t task, Scratch) {
  const Norm& norm = args.norm;
  const RowRange rows = RowsOfTask(task, args.m, args.k);
  for (int64_t r = rows.first; r < rows.end; ++r) {
    const float* x = args.x + r * args.ldx;
    float* out = args.out + r * args.ldo;
    if (args.residual || args.sum) {
      // Where the sum is not asked for, `out` holds it until it is normalised in place.
      const float* residual = args.residual ? args.residual + r * args.ldr : nullptr;
      float* sum = args.sum ? args.sum + r * args.lds : out;
      ForVectors(args.k, [&](int64_t i, auto span) TBOOST_INLINE_LAMBDA {
        F32x16 value = span.LoadFrom(x + i);
        if (residual) value = value + span.LoadFrom(residual + i);
        span.StoreTo(value, sum + i);
      });
      x = sum;
    }
    const RowStatistics row = Statistics(norm.kind, norm.eps, x, args.k);
    Normalize(row, norm.gamma, norm.beta, x, args.k, out);
  }
}

}  // namespace tboost::kernels::TBOOST_ISA
