#include "src/kernels/kernels.h"

#include "src/base/cpu_features.h"

namespace tboost::kernels {

namespace baseline {
extern const KernelTable kTable;
}
namespace avx2 {
extern const KernelTable kTable;
}
namespace avx512 {
extern const KernelTable kTable;
}

const KernelTable& Kernels(Isa isa) {
  switch (isa) {
    case Isa::kAvx512:
      return avx512::kTable;
    case Isa::kAvx2:
      return avx2::kTable;
    case Isa::kBaseline:
      break;
  }
  return baseline::kTable;
}

}  // namespace tboost::kernels
