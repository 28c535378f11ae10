// Some neighbouring columns of each row.
#pragma once

#include "src/ops/ops.h"

namespace tboost::ops {

struct ColumnsAttributes {
  int64_t begin = 0, count = 1;
  template <class V>
  void VisitFields(V& v) {
    v("begin", begin, "the first column");
    v("count", count, "number of columns");
  }
};

}  // namespace tboost::ops
