// Layer normalisation of rows.
#pragma once

#include "src/ops/ops.h"

namespace tboost::ops {

struct LayerNormAttributes {
  double eps = 1e-5;
  template <class V>
  void VisitFields(V& v) {
    v("eps", eps, "added to the variance");
  }
};

}  // namespace tboost::ops
