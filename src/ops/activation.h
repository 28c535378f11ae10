// Elementwise non-linear functions.
#pragma once

#include "src/ops/enums.h"
#include "src/ops/ops.h"

namespace tboost::ops {

struct ActivationAttributes {
  kernels::Activation kind = kernels::Activation::kNone;
  template <class V>
  void VisitFields(V& v) {
    v("kind", kind, "the function");
  }
};

}  // namespace tboost::ops
