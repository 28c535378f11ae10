// What follows the sums of a product, while they are in the L1 cache. Included by ISA sources only.
#pragma once

#include "src/kernels/kernels.h"
#include "src/kernels/simd/math-inl.h"
#include "src/kernels/simd/span-inl.h"

namespace tboost::kernels::TBOOST_ISA {

// From the sums of `rows` rows and `panels` panels ([panels][..][16], panels sums_stride floats
// apart) to rows first_row... of c; the panels start at column 16 * first_panel of W.
inline void Epilogue(const GemmArgs& args, const float* sums, int64_t sums_stride,
                     int64_t first_row, int64_t rows, int64_t first_panel, int64_t panels) {
  const int64_t step = args.gated ? 2 : 1, width = args.n / step;
  const int64_t first_w = first_panel * kVectorLanes, first_column = first_w / step;
  const auto bias = [&](auto span, int64_t w_column) TBOOST_INLINE_LAMBDA {
    return args.bias ? span.LoadFrom(args.bias + w_column) : Zero();
  };
  WithActivation(args.activation, [&](auto activate) TBOOST_INLINE_LAMBDA {
    for (int64_t r = 0; r < rows; ++r) {
      float* c = args.c + (first_row + r) * args.ldc;
      const float* residual = args.residual ? args.residual + (first_row + r) * args.ldr : nullptr;
      const float* sum = sums + r * kVectorLanes;
      int64_t w_column = first_w, column = first_column;
      const auto finish = [&](auto span) TBOOST_INLINE_LAMBDA {
        F32x16 value = activate(Load(sum) + bias(span, w_column));
        if (args.gated)
          value = value * (Load(sum + sums_stride) + bias(span, w_column + kVectorLanes));
        if (residual) value = value + span.LoadFrom(residual + column);
        span.StoreTo(value, c + column);
      };
      for (int64_t p = 0; p < panels; p += step) {
        if (width - column >= kVectorLanes)
          finish(WholeSpan{});
        else
          finish(PartialSpan{static_cast<int>(width - column)});
        sum += step * sums_stride;
        w_column += step * kVectorLanes;
        column += kVectorLanes;
      }
    }
  });
}

}  // namespace tboost::kernels::TBOOST_ISA
