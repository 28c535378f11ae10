// The emulation's vectors are wider than this file's registers; they cross no boundary of objects.
#pragma GCC diagnostic ignored "-Wpsabi"
#define TBOOST_ISA emulated_in_test
#define TBOOST_MATH_SUITE MathFused
#include "src/kernels/simd/math_testing-inl.h"
