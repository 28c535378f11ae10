#include "src/kernels/gemm/direct.h"

namespace tboost::kernels::TBOOST_ISA {

const WeightFormat& FormatOf(DType dtype) {
  for (const auto* formats : {&kPlainFormats, &kNibbleFormats, &kWideFormats})
    for (const WeightFormat& format : *formats)
      if (format.dtype == dtype) return format;
  return kPlainFormats[0];
}

}  // namespace tboost::kernels::TBOOST_ISA
