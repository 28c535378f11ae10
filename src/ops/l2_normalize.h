// Rows of unit length.
#pragma once

#include "src/ops/ops.h"

namespace tboost::ops {

struct L2NormalizeAttributes {
  double eps = 1e-12;
  template <class V>
  void VisitFields(V& v) {
    v("eps", eps, "the least length divided by");
  }
};

}  // namespace tboost::ops
