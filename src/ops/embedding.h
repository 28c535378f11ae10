// Rows of a table.
#pragma once

#include "src/ops/ops.h"

namespace tboost::ops {

struct EmbeddingAttributes {
  double scale = 1;
  template <class V>
  void VisitFields(V& v) {
    v("scale", scale, "factor of every element");
  }
};

}  // namespace tboost::ops
