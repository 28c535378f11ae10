// TensorView: where a tensor lies, not who owns it. Copyable; valid while the memory lives.
#pragma once

#include "src/tensor/dtype.h"
#include "src/tensor/shape.h"

namespace tboost {

// A contiguous row-major tensor, except that rows (all but the last dimension) may lie `row_stride`
// elements apart. Quantised types count blocks along the last dimension.
struct TensorView {
  void* data = nullptr;
  DType dtype = DType::kF32;
  Shape shape;
  int64_t row_stride = 0;  // elements between the starts of rows; 0: shape.back()

  template <class T>
  T* as() const {
    return static_cast<T*>(data);
  }
  int64_t stride() const { return row_stride ? row_stride : (shape.rank() ? shape.back() : 1); }
  int64_t rows() const {
    return shape.rank() && shape.back() ? shape.elements() / shape.back() : shape.rank() ? 0 : 1;
  }
};

}  // namespace tboost
