// Weights of longer codes.
#include "src/kernels/gemm/direct-inl.h"

namespace tboost::kernels::TBOOST_ISA {

constexpr WeightFormat kWideFormats[] = {MakeFormat<Q8_0Weights>(), MakeFormat<Q5_0Weights>(),
                                         MakeFormat<Q6_KWeights>()};

}  // namespace tboost::kernels::TBOOST_ISA
