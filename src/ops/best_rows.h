// The best of each row of a product, without the rows.
#pragma once

#include "src/graph/op_record.h"
#include "src/kernels/kernels.h"

namespace tboost::ops {

// The call of a product (not gated) of which `context.best` alone is wanted. A task multiplies a
// part of the columns, a few at a time, into scratch memory and keeps the best of them.
Result<KernelCall> CallBestRows(const LowerContext& context, const kernels::GemmArgs& product);

}  // namespace tboost::ops
