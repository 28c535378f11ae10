// Weights that are numbers.
#include "src/kernels/gemm/direct-inl.h"

namespace tboost::kernels::TBOOST_ISA {

constexpr WeightFormat kPlainFormats[] = {MakeFormat<F32Weights>(),
                                          MakeFormat<HalfWeights<DType::kF16>>(),
                                          MakeFormat<HalfWeights<DType::kBF16>>()};

}  // namespace tboost::kernels::TBOOST_ISA
