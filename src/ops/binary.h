// What add and mul share: y has x's shape or is one row for all.
#pragma once

#include <functional>

#include "src/ops/ops.h"

namespace tboost::ops {

Result<std::vector<ValueType>> InferBinary(const OpRecord& op, std::span<const ValueType> inputs,
                                           std::span<const bool> present,
                                           const Attributes& attributes);
KernelCall CallBinary(const LowerContext& context, bool multiply);
std::vector<OpCase> BinaryCases();
// `gradient` of y: summed over the rows where y is one row.
Result<ValueId> SumToShapeOfY(const GradientContext& context, ValueId gradient);

// z = combine(x, y) elementwise.
template <class Combine>
Status BinaryReference(const RefCall& call) {
  const RefTensor &x = *call.inputs[0].tensor, &y = *call.inputs[1].tensor;
  RefTensor& z = call.outputs[0];
  for (size_t i = 0; i < z.data.size(); ++i)
    z.data[i] = Combine()(x.data[i], y.data[i % y.data.size()]);
  return OkStatus();
}

}  // namespace tboost::ops
