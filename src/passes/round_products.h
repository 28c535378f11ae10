// Products in bf16: rows as well as weights.
#pragma once

#include "src/passes/pass.h"

namespace tboost {

// Makes every product whose weights are bf16 round the rows of its input to bf16 too (behind a norm
// that is part of it); returns how many there are. Sums and all else stay f32.
Result<int> RoundProducts(Graph& graph);

}  // namespace tboost
