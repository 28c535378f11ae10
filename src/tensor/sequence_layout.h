// Which tokens of a step belong to which sequence, and where their keys and values lie.
#pragma once

#include <cstdint>

namespace tboost {

// Tokens of one KV page and keys of one attention block: the merge order of attention is fixed by
// it.
inline constexpr int kPageTokens = 64;

// Paged keys and values of one layer, f32. Page p of the layer starts at base + p * page_stride and
// holds
//   K [kv_heads][kPageTokens / 16][head_dim][16]   (panels of 16 keys, as a packed weight)
//   V [kv_heads][kPageTokens][head_dim]
// The view owns nothing; pages of one sequence are written by one step at a time.
struct KvCacheView {
  float* base = nullptr;
  int64_t page_stride = 0;  // floats from a page of this layer to the next page of this layer
  int kv_heads = 0;
  int head_dim = 0;

  float* KeyPage(int64_t page, int kv_head) const {
    return base + page * page_stride + int64_t{kv_head} * kPageTokens * head_dim;
  }
  float* ValuePage(int64_t page, int kv_head) const { return KeyPage(page, kv_heads + kv_head); }
};

// Floats of one page of one layer.
inline int64_t KvPageFloats(int kv_heads, int head_dim) {
  return int64_t{2} * kv_heads * kPageTokens * head_dim;
}

// One step's tokens: sequence s owns tokens [offsets[s], offsets[s + 1]), which stand at positions
// past[s], past[s] + 1... of it. Plain pointers, owned by the caller for the length of the step.
struct SequenceLayout {
  int sequences = 0;
  int64_t tokens = 0;                // == offsets[sequences]
  const int32_t* offsets = nullptr;  // [sequences + 1]
  const int32_t* past = nullptr;     // [sequences]: tokens of the sequence already in the cache
  const int32_t* pages = nullptr;    // [sequences, max_pages] page ids; null without a cache
  int64_t max_pages = 0;
  const int32_t* sequence_of = nullptr;  // [tokens]: the sequence each token belongs to

  int32_t Position(int64_t token) const {
    const int32_t s = sequence_of[token];
    return past[s] + static_cast<int32_t>(token - offsets[s]);
  }
};

}  // namespace tboost
