// A residual sum and its normalisation.
#pragma once

#include "src/ops/enums.h"
#include "src/ops/ops.h"

namespace tboost::ops {

struct AddNormAttributes {
  kernels::NormKind norm = kernels::NormKind::kLayer;
  double eps = 1e-5;
  template <class V>
  void VisitFields(V& v) {
    v("norm", norm, "layer or rms");
    v("eps", eps, "of the normalisation");
  }
};

}  // namespace tboost::ops
