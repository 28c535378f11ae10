#include "src/ops/cost.h"

namespace tboost {

double BytesOf(std::span<const TensorView> tensors) {
  double bytes = 0;
  for (const TensorView& t : tensors) {
    if (t.shape.rank() == 0) continue;
    const DTypeInfo& info = Info(t.dtype);
    bytes += static_cast<double>(t.shape.elements()) / info.block_elements * info.block_bytes;
    bytes += static_cast<double>(t.shape[0]) * info.row_bytes;
  }
  return bytes;
}

Cost StreamCost(std::span<const TensorView> inputs, std::span<const TensorView> outputs,
                double flops) {
  return {flops, BytesOf(inputs) + BytesOf(outputs)};
}

}  // namespace tboost
