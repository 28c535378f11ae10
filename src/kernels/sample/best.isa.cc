// The largest elements of rows, by blocks most of which hold none.
#include "src/kernels/kernels.h"
#include "src/kernels/rows.h"
#include "src/kernels/simd/math-inl.h"
#include "src/kernels/simd/span-inl.h"

namespace tboost::kernels::TBOOST_ISA {
namespace {

constexpr int64_t kBlock = 64;

inline float Largest(const float* x, int64_t n) {
  const F32x16 nothing = Set1(-__builtin_inff());
  F32x16 lanes = nothing;
  // The second operand is what Max returns beside a NaN.
  ForVectors(n, [&](int64_t i, auto span) TBOOST_INLINE_LAMBDA {
    lanes = Max(span.Keep(span.LoadFrom(x + i), nothing), lanes);
  });
  return ReduceMax(lanes);
}

// Ids come in ascending order: of equal values the one that is there already stays in front.
inline void Insert(Candidate* best, int64_t count, float value, int32_t id) {
  int64_t at = count - 1;
  for (; at > 0 && value > best[at - 1].value; --at) best[at] = best[at - 1];
  best[at].value = value;
  best[at].id = id;
}

}  // namespace

void best(const BestArgs& args, int64_t task, Scratch) {
  const RowRange rows = RowsOfTask(task, args.m, args.n);
  for (int64_t r = rows.first; r < rows.end; ++r) {
    const float* x = args.x + r * args.ldx;
    Candidate* found = args.out + r * args.ldo;
    const float& least = found[args.count - 1].value;
    for (int64_t i = 0; i < args.n; i += kBlock) {
      const int64_t end = args.n - i < kBlock ? args.n : i + kBlock;
      if (!(Largest(x + i, end - i) > least)) continue;
      for (int64_t j = i; j < end; ++j)
        if (x[j] > least) Insert(found, args.count, x[j], args.first_id + static_cast<int32_t>(j));
    }
  }
}

}  // namespace tboost::kernels::TBOOST_ISA
