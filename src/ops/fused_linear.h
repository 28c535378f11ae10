// A product with what stands before and after it: one kernel call.
#pragma once

#include "src/ops/enums.h"
#include "src/ops/ops.h"

namespace tboost::ops {

struct FusedLinearAttributes {
  kernels::Activation activation = kernels::Activation::kNone;
  bool gated = false;
  kernels::NormKind norm = kernels::NormKind::kNone;
  double eps = 0;
  bool round_rows = false;
  template <class V>
  void VisitFields(V& v) {
    v("activation", activation, "applied to the sum, or to the gate");
    v("gated", gated, "rows of w come as 16 gate, 16 up, 16 gate...; y = activation(gate) * up");
    v("norm", norm, "normalisation of the rows of x");
    v("eps", eps, "of the normalisation");
    v("round_rows", round_rows, "to bf16, behind the normalisation; w is bf16 too");
  }
};

}  // namespace tboost::ops
