#include "src/kernels/kernels.h"
#include "src/kernels/rows.h"

namespace tboost::kernels {

int64_t Tasks(const BinaryArgs& args) { return RowTasks(args.m, args.k); }
size_t ScratchBytes(const BinaryArgs&) { return 0; }

}  // namespace tboost::kernels
