#include "src/runtime/kv_cache.h"

#include <sys/mman.h>

#include <algorithm>

#include "src/base/checked.h"

namespace tboost {
namespace {

constexpr uint64_t kSystemPage = 4096;
// Pages of tokens from this size on ask for huge pages of the system: taking and giving back a
// megabyte of small ones takes as long as decoding a token.
constexpr int64_t kHugeFrom = 1 << 20;
// Of freed pages so much memory is kept: the next prompt does not wait for the system to clear it.
constexpr int64_t kKeptBytes = 32 << 20;

}  // namespace

Result<KvPool> KvPool::Create(std::vector<KvLayer> layers, int64_t max_tokens, DType dtype) {
  KvPool pool;
  pool.dtype_ = dtype;
  for (const KvLayer& layer : layers) {
    const KvCacheView view = {nullptr, 0, layer.kv_heads, layer.head_dim, dtype};
    pool.layer_offsets_.push_back(pool.page_bytes_);
    pool.page_bytes_ += view.PageBytes();
  }
  // Pages of the system are given back, so none may reach into the next page of tokens.
  pool.page_bytes_ = RoundUp(pool.page_bytes_, kSystemPage);
  pool.layers_ = std::move(layers);
  pool.max_pages_ = static_cast<int64_t>(DivUp(static_cast<uint64_t>(max_tokens), kPageTokens));
  const auto size = CheckedMul(static_cast<size_t>(pool.max_pages_), pool.page_bytes());
  const size_t bytes = size.value_or(SIZE_MAX);
  if (bytes == 0) return pool;
  void* base = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED)
    return ResourceExhaustedError("kv cache: no address space for {} tokens ({} MB)", max_tokens,
                                  bytes >> 20);
  pool.base_ = static_cast<std::byte*>(base);
  if (pool.page_bytes() >= kHugeFrom) madvise(base, bytes, MADV_HUGEPAGE);
  return pool;
}

KvPool::KvPool(KvPool&& other) noexcept
    : layers_(std::move(other.layers_)),
      dtype_(other.dtype_),
      layer_offsets_(std::move(other.layer_offsets_)),
      base_(std::exchange(other.base_, nullptr)),
      page_bytes_(other.page_bytes_),
      max_pages_(other.max_pages_),
      free_(std::move(other.free_)),
      kept_(other.kept_),
      next_(other.next_) {}

KvPool::~KvPool() {
  if (base_) munmap(base_, static_cast<size_t>(max_pages_) * page_bytes());
}

Status KvPool::Reserve(KvSequence& sequence, int64_t tokens) {
  const auto needed =
      static_cast<int64_t>(DivUp(static_cast<uint64_t>(sequence.length + tokens), kPageTokens));
  const int64_t missing = needed - static_cast<int64_t>(sequence.pages.size());
  if (missing <= 0) return OkStatus();
  const std::lock_guard lock(mutex_);
  const int64_t available = static_cast<int64_t>(free_.size()) + max_pages_ - next_;
  if (missing > available)
    return ResourceExhaustedError("kv cache: {} pages of {} tokens needed, {} of {} free", missing,
                                  kPageTokens, available, max_pages_);
  for (int64_t i = 0; i < missing; ++i) {
    if (free_.empty()) {
      sequence.pages.push_back(next_++);
    } else {
      sequence.pages.push_back(free_.back());
      free_.pop_back();
      kept_ = std::max<int64_t>(0, kept_ - 1);
    }
  }
  return OkStatus();
}

void KvPool::Truncate(KvSequence& sequence, int64_t length) {
  sequence.length = std::min(sequence.length, length);
  const size_t keep = DivUp(static_cast<uint64_t>(sequence.length), kPageTokens);
  const std::lock_guard lock(mutex_);
  while (sequence.pages.size() > keep) {
    free_.push_back(sequence.pages.back());
    sequence.pages.pop_back();
    if (++kept_ * page_bytes_ <= kKeptBytes) continue;
    const int32_t oldest = free_[free_.size() - static_cast<size_t>(kept_--)];
    madvise(base_ + oldest * page_bytes_, page_bytes(), MADV_DONTNEED);
  }
}

KvCacheView KvPool::View(int layer) const {
  KvCacheView view;
  view.base = base_ ? base_ + layer_offsets_[layer] : nullptr;
  view.page_stride = page_bytes_;
  view.kv_heads = layers_[layer].kv_heads;
  view.head_dim = layers_[layer].head_dim;
  view.dtype = dtype_;
  return view;
}

int64_t KvPool::pages_in_use() const {
  const std::lock_guard lock(mutex_);
  return next_ - static_cast<int64_t>(free_.size());
}

}  // namespace tboost
