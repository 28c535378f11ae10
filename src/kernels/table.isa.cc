// The table of one instruction set.
#include "src/kernels/kernels.h"

#define TBOOST_STRING_OF(macro) TBOOST_STRING(macro)
#define TBOOST_STRING(text) #text

namespace tboost::kernels::TBOOST_ISA {

#define TBOOST_KERNEL(name, Args) void name(const Args& args, int64_t task, Scratch scratch);
#include "src/kernels/kernels.inc"
#undef TBOOST_KERNEL

extern const KernelTable kTable;
const KernelTable kTable = {
    TBOOST_STRING_OF(TBOOST_ISA),
#define TBOOST_KERNEL(name, Args) &name,
#include "src/kernels/kernels.inc"
#undef TBOOST_KERNEL
};

}  // namespace tboost::kernels::TBOOST_ISA
