// Weights of 4-bit codes.
#include "src/kernels/gemm/direct-inl.h"

namespace tboost::kernels::TBOOST_ISA {

constexpr WeightFormat kNibbleFormats[] = {MakeFormat<NibbleWeights<DType::kQ4_0>>(),
                                           MakeFormat<NibbleWeights<DType::kQ4_1>>(),
                                           MakeFormat<NibbleWeights<DType::kQ4_K>>()};

}  // namespace tboost::kernels::TBOOST_ISA
