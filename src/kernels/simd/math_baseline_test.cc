#define TBOOST_ISA baseline_in_test
#define TBOOST_ISA_baseline 1
#define TBOOST_MATH_SUITE MathUnfused
#include "src/kernels/simd/math_testing-inl.h"
