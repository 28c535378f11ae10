// Rotary positions.
#pragma once

#include "src/ops/ops.h"

namespace tboost {
class ShapeRule;
}

namespace tboost::ops {

struct RopeAttributes {
  int64_t heads = 1, head_dim = 2;
  template <class V>
  void VisitFields(V& v) {
    v("heads", heads, "heads of a row");
    v("head_dim", head_dim,
      "elements of a head; the first ones, as many as angles has, are rotated");
  }
};

// Checks the attributes and binds h = heads * head_dim.
void CheckRope(const RopeAttributes& a, ShapeRule& rule);
// After r was bound: an even number of at most head_dim.
void CheckRotaryDim(int64_t head_dim, ShapeRule& rule);
// Rotates every head of every row of x, or back.
void RotateRows(const RefTensor& angles, const RopeAttributes& a, bool back, RefTensor& x);

}  // namespace tboost::ops
