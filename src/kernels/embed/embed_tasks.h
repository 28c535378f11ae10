// How the rows of an embedding are shared out.
#pragma once

#include "src/kernels/kernels.h"
#include "src/kernels/rows.h"

namespace tboost::kernels {

// An element comes with its neighbours in the panel, so a row costs more than its own size.
constexpr int64_t EmbedRowFloats(int64_t k) { return 4 * k; }

}  // namespace tboost::kernels
