// Costs that many operators share.
#pragma once

#include <span>

#include "src/graph/op_record.h"

namespace tboost {

// Bytes that these tensors occupy in their formats (absent operands and views without elements:
// none).
double BytesOf(std::span<const TensorView> tensors);

// Every operand and result moved once, `flops` operations done.
Cost StreamCost(std::span<const TensorView> inputs, std::span<const TensorView> outputs,
                double flops);

// An elementwise operator or one over rows: so many operations for each element of the first
// output.
template <int kFlopsPerElement>
Cost ElementwiseCost(std::span<const TensorView> inputs, std::span<const TensorView> outputs,
                     const Attributes&) {
  return StreamCost(inputs, outputs,
                    kFlopsPerElement * static_cast<double>(outputs[0].shape.elements()));
}

}  // namespace tboost
