#define TBOOST_ISA emulated_in_test
#define TBOOST_MATH_SUITE MathFused
#include "src/kernels/simd/math_testing-inl.h"
