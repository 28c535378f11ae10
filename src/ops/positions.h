// Positions of tokens as indices.
#pragma once

#include "src/ops/ops.h"

namespace tboost::ops {

struct PositionsAttributes {
  int64_t offset = 0;
  template <class V>
  void VisitFields(V& v) {
    v("offset", offset, "index of the first position");
  }
};

}  // namespace tboost::ops
