// All that happens between the projections and attention.
#pragma once

#include "src/ops/ops.h"

namespace tboost::ops {

struct RopeKvAttributes {
  int64_t heads = 1, kv_heads = 1, head_dim = 2;
  double eps = 0;
  template <class V>
  void VisitFields(V& v) {
    v("heads", heads, "query heads");
    v("kv_heads", kv_heads, "key/value heads");
    v("head_dim", head_dim, "elements of a head");
    v("eps", eps, "of the normalisation by q_gamma and k_gamma");
  }
};

}  // namespace tboost::ops
