// What the operators on kv caches share.
#pragma once

#include "src/ops/ops.h"

namespace tboost::ops {

// Whether the reference cache has the sequences of `layout`, with at least `past` tokens each.
Status CheckCache(std::string_view op, const RefKvCache& cache, const SequenceLayout& layout);
// Stores the step's keys and values, rows of k and v, after the `past` tokens of each sequence.
Status StoreToCache(std::string_view op, const RefTensor& k, const RefTensor& v,
                    const SequenceLayout& layout, RefKvCache& cache);

}  // namespace tboost::ops
