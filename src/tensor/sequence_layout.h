// Which tokens of a step belong to which sequence, and where their keys and values lie.
#pragma once

#include <cstddef>
#include <cstdint>

#include "src/tensor/dtype.h"

namespace tboost {

// Tokens of one KV page and keys of one attention block: the merge order of attention is fixed by
// it.
inline constexpr int kPageTokens = 64;

// The rows of one head in one page: [kPageTokens][head_dim] elements of the cache's format, behind
// them for kI8 [kPageTokens] f32 scales: an element is code * scale of its row.
struct KvRows {
  std::byte* data;
  int head_dim;
  DType dtype;

  template <class T>
  T* row(int64_t slot) const {
    return reinterpret_cast<T*>(data) + slot * head_dim;
  }
  int64_t RowBytes() const {  // without its scale
    return int64_t{head_dim} * (dtype == DType::kI8 ? 1 : dtype == DType::kBF16 ? 2 : 4);
  }
  float* scales() const { return reinterpret_cast<float*>(data + int64_t{kPageTokens} * head_dim); }
};

// Paged keys and values of one layer in f32, bf16 or int8. Page p of the layer starts at base + p *
// page_stride and holds the KvRows of the keys of each head, then of the values of each head. The
// view owns nothing; pages of one sequence are written by one step at a time.
struct KvCacheView {
  std::byte* base = nullptr;
  int64_t page_stride = 0;  // bytes from a page of this layer to the next page of this layer
  int kv_heads = 0;
  int head_dim = 0;
  DType dtype = DType::kF32;  // or kBF16, kI8

  int64_t RowsBytes() const {  // of one KvRows
    const KvRows rows = {base, head_dim, dtype};
    return kPageTokens * (rows.RowBytes() + (dtype == DType::kI8 ? 4 : 0));
  }
  int64_t PageBytes() const { return 2 * kv_heads * RowsBytes(); }  // of this layer
  KvRows Keys(int64_t page, int kv_head) const {
    return {base + page * page_stride + kv_head * RowsBytes(), head_dim, dtype};
  }
  KvRows Values(int64_t page, int kv_head) const { return Keys(page, kv_heads + kv_head); }
};

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
  // The page that holds a position of a sequence.
  int64_t PageOf(int sequence, int64_t position) const {
    return pages[sequence * max_pages + position / kPageTokens];
  }
};

}  // namespace tboost
