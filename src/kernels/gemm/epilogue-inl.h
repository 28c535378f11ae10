// What follows the sums of a product, while they are in the L1 cache. Included by ISA sources only.
#pragma once

#include "src/kernels/kernels.h"
#include "src/kernels/simd/math-inl.h"

namespace tboost::kernels::TBOOST_ISA {

// Writes 16 columns of c, or the `columns` there are: value + residual.
TBOOST_INLINE void FinishColumns(const GemmArgs& args, F32x16 value, int64_t row, int64_t column,
                                 int columns) {
  float* c = args.c + row * args.ldc + column;
  const float* residual = args.residual ? args.residual + row * args.ldr + column : nullptr;
  if (columns >= kVectorLanes) {
    if (residual) value = value + Load(residual);
    Store(value, c);
  } else {
    if (residual) value = value + LoadPartial(residual, columns);
    StorePartial(value, c, columns);
  }
}

// From the sums of `rows` rows and `panels` panels ([panels][..][16], panels sums_stride floats
// apart) to rows first_row... of c; the panels start at column 16 * first_panel of W.
inline void Epilogue(const GemmArgs& args, const float* sums, int64_t sums_stride,
                     int64_t first_row, int64_t rows, int64_t first_panel, int64_t panels) {
  const int64_t step = args.gated ? 2 : 1;
  const int64_t width = args.n / step;
  for (int64_t p = 0; p < panels; p += step, sums += step * sums_stride) {
    const int64_t w_column = (first_panel + p) * kVectorLanes, column = w_column / step;
    const int columns =
        static_cast<int>(width - column < kVectorLanes ? width - column : kVectorLanes);
    F32x16 bias = Zero(), up_bias = Zero();
    if (args.bias) {
      bias = LoadPartial(args.bias + w_column, columns);
      if (args.gated) up_bias = LoadPartial(args.bias + w_column + kVectorLanes, columns);
    }
    for (int64_t r = 0; r < rows; ++r) {
      const float* sum = sums + r * kVectorLanes;
      F32x16 value = Activate(args.activation, Load(sum) + bias);
      if (args.gated) value = value * (Load(sum + sums_stride) + up_bias);
      FinishColumns(args, value, first_row + r, column, columns);
    }
  }
}

}  // namespace tboost::kernels::TBOOST_ISA
