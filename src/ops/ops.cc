#include "src/ops/ops.h"

namespace tboost {

const OpRegistry& BuiltinOps() {
  static const OpRegistry registry{{
#define TBOOST_OP(Name) &ops::Name(),
#include "src/ops/ops.inc"
#undef TBOOST_OP
  }};
  return registry;
}

}  // namespace tboost
