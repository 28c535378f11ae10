#include "src/kernels/embed/embed_tasks.h"

namespace tboost::kernels {

int64_t Tasks(const EmbedArgs& args) { return RowTasks(args.tokens, EmbedRowFloats(args.k)); }
// One row in its storage format.
size_t ScratchBytes(const EmbedArgs& args) {
  return StorageBytes(args.dtype, static_cast<uint64_t>(args.k)).value_or(0);
}

}  // namespace tboost::kernels
