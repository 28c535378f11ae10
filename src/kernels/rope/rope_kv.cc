#include "src/kernels/kernels.h"
#include "src/kernels/rows.h"

namespace tboost::kernels {

int64_t Tasks(const RopeKvArgs& args) {
  return RowTasks(args.tokens - args.first_token,
                  int64_t{args.heads + 2 * args.kv_heads} * args.head_dim);
}
// One key head on its way to the cache.
size_t ScratchBytes(const RopeKvArgs& args) {
  return static_cast<size_t>(args.head_dim) * sizeof(float);
}

}  // namespace tboost::kernels
