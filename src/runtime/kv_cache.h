// Paged keys and values: the explicit state of a text model.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "src/base/status.h"
#include "src/tensor/sequence_layout.h"

namespace tboost {

// Heads and their size in one layer.
struct KvLayer {
  int kv_heads = 0;
  int head_dim = 0;
};

// The pages of one sequence and how many tokens they hold. Owned by whoever owns the sequence; give
// the pages back with KvPool::Truncate(sequence, 0).
struct KvSequence {
  std::vector<int32_t> pages;
  int64_t length = 0;
};

// All pages of a model. A page holds kPageTokens tokens of every layer. Address space is reserved
// once; memory is taken by the page, on first use, and given back when a page is freed, but for the
// 32 MB freed last.
// Thread-safe, except that one sequence may be used by one thread at a time.
class KvPool {
 public:
  // At most `max_tokens` tokens, rounded up to pages, over all sequences; stored as `dtype`, one of
  // those of KvCacheView.
  static Result<KvPool> Create(std::vector<KvLayer> layers, int64_t max_tokens,
                               DType dtype = DType::kF32);
  KvPool(KvPool&& other) noexcept;
  KvPool& operator=(KvPool&&) = delete;
  ~KvPool();

  // Makes room for `tokens` more tokens. kResourceExhausted when the pool is full; then nothing
  // changed.
  Status Reserve(KvSequence& sequence, int64_t tokens);
  // Forgets what lies beyond `length` tokens and frees the pages that held only that.
  void Truncate(KvSequence& sequence, int64_t length);

  KvCacheView View(int layer) const;
  int64_t page_bytes() const { return page_bytes_; }
  int64_t pages_in_use() const;
  int64_t max_pages() const { return max_pages_; }

 private:
  KvPool() = default;

  std::vector<KvLayer> layers_;
  DType dtype_ = DType::kF32;
  std::vector<int64_t> layer_offsets_;  // bytes from the start of a page
  std::byte* base_ = nullptr;
  int64_t page_bytes_ = 0;
  int64_t max_pages_ = 0;
  mutable std::mutex mutex_;
  std::vector<int32_t> free_;  // freed pages, the last of them reused before new ones
  int64_t kept_ = 0;           // so many at the end of free_ still have their memory
  int32_t next_ = 0;           // pages never used start here
};

}  // namespace tboost
