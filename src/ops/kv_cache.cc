#include "src/ops/kv_cache.h"

#include <algorithm>

namespace tboost::ops {

Status CheckCache(std::string_view op, const RefKvCache& cache, const SequenceLayout& layout) {
  const size_t sequences = static_cast<size_t>(layout.sequences);
  if (cache.keys.size() != sequences || cache.values.size() != sequences)
    return InvalidArgumentError("[{}] the cache has {} sequences, the layout {}", op,
                                cache.keys.size(), layout.sequences);
  for (size_t s = 0; s < sequences; ++s) {
    const size_t least = static_cast<size_t>(layout.past[s]) * cache.kv_heads * cache.head_dim;
    if (cache.keys[s].size() < least || cache.values[s].size() != cache.keys[s].size())
      return InvalidArgumentError("[{}] the cache of sequence {} has fewer than {} tokens", op, s,
                                  layout.past[s]);
  }
  return OkStatus();
}

Status StoreToCache(std::string_view op, const RefTensor& k, const RefTensor& v,
                    const SequenceLayout& layout, RefKvCache& cache) {
  TBOOST_RETURN_IF_ERROR(CheckCache(op, cache, layout));
  const int64_t width = k.columns();
  for (int s = 0; s < layout.sequences; ++s) {
    const int64_t first = layout.offsets[s], end = layout.offsets[s + 1];
    const size_t past = static_cast<size_t>(layout.past[s] * width);
    cache.keys[s].resize(past);
    cache.keys[s].insert(cache.keys[s].end(), k.row(first), k.row(end));
    cache.values[s].resize(past);
    cache.values[s].insert(cache.values[s].end(), v.row(first), v.row(end));
  }
  return OkStatus();
}

}  // namespace tboost::ops
