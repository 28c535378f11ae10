// Root-mean-square normalisation of rows, or of equal parts of each row.
#pragma once

#include "src/ops/ops.h"

namespace tboost::ops {

struct RmsNormAttributes {
  double eps = 1e-6;
  int64_t groups = 1;
  template <class V>
  void VisitFields(V& v) {
    v("eps", eps, "added to the mean square");
    v("groups", groups, "equal parts (heads) of a row, each normalised alone");
  }
};

}  // namespace tboost::ops
