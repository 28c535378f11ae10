// The built-in operators. Each is a pair NAME.h (attributes) / NAME.cc (shape rule, reference,
// cost, gradient, kernel call, cases) and one line of ops.inc; everything else iterates over the
// records.
#pragma once

#include "src/graph/op_record.h"

namespace tboost {

namespace ops {

// The record of each operator, e.g. ops::Linear(). Constant after the first call; thread-safe.
#define TBOOST_OP(Name) const OpRecord& Name();
#include "src/ops/ops.inc"
#undef TBOOST_OP

}  // namespace ops

// All of them, in the order of ops.inc.
const OpRegistry& BuiltinOps();

}  // namespace tboost
