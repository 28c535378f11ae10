// A layer's q, k and v, from the hidden state to attention.
#pragma once

#include "src/ops/enums.h"
#include "src/ops/ops.h"

namespace tboost::ops {

struct LinearRopeKvAttributes {
  int64_t heads = 1, kv_heads = 1, head_dim = 16;
  double head_eps = 0;
  kernels::NormKind norm = kernels::NormKind::kNone;
  double eps = 0;
  bool round_rows = false;
  template <class V>
  void VisitFields(V& v) {
    v("heads", heads, "query heads");
    v("kv_heads", kv_heads, "key/value heads");
    v("head_dim", head_dim, "elements of a head, a multiple of 16");
    v("head_eps", head_eps, "of the normalisation by q_gamma and k_gamma");
    v("norm", norm, "normalisation of the rows of x");
    v("eps", eps, "of that normalisation");
    v("round_rows", round_rows, "to bf16, behind that normalisation; w and value_w are bf16 too");
  }
};

}  // namespace tboost::ops
