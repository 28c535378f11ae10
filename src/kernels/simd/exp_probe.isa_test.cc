// The exponentials over arrays, for tests of each instruction set.
#include "src/kernels/simd/math-inl.h"

namespace tboost::kernels::TBOOST_ISA {

void ExpOfAll(const float* x, int64_t n, float* y) {  // n: a multiple of 16
  for (int64_t i = 0; i < n; i += 16) Store(Exp(Load(x + i)), y + i);
}
void Exp2OfAll(const float* x, int64_t n, float* y) {
  for (int64_t i = 0; i < n; i += 16) Store(Exp2(Load(x + i)), y + i);
}

}  // namespace tboost::kernels::TBOOST_ISA
