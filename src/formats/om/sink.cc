#include "src/formats/om/sink.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "src/base/checked.h"

namespace tboost {

MemoryImage& MemoryImage::operator=(MemoryImage&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(capacity_, other.capacity_);
  return *this;
}

MemoryImage::~MemoryImage() {
  if (data_ != nullptr) munmap(data_, capacity_);
}

// Grows by moving pages, not bytes; pages not yet written take no memory. Moving would break up
// huge pages, so most models fit what is reserved at first.
Status MemoryImage::Reserve(uint64_t size) {
  constexpr uint64_t kStep = 1 << 30;
  if (size <= capacity_) return OkStatus();
  const uint64_t wanted = RoundUp(std::max<uint64_t>(size, capacity_ * 2), kStep);
  void* moved = data_ == nullptr ? mmap(nullptr, wanted, PROT_READ | PROT_WRITE,
                                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
                                 : mremap(data_, capacity_, wanted, MREMAP_MAYMOVE);
  if (moved == MAP_FAILED) return ResourceExhaustedError("no memory for {} bytes", wanted);
  data_ = static_cast<char*>(moved);
  capacity_ = wanted;
  madvise(data_, capacity_, MADV_HUGEPAGE);  // advice: without it the pages are small
  return OkStatus();
}

Status MemoryImage::Append(std::string_view bytes) {
  if (bytes.empty()) return OkStatus();
  TBOOST_RETURN_IF_ERROR(Reserve(size_ + bytes.size()));
  std::memcpy(data_ + size_, bytes.data(), bytes.size());
  size_ += bytes.size();
  return OkStatus();
}

Status MemoryImage::PadTo(uint64_t alignment) {
  const uint64_t size = RoundUp(size_, alignment);
  TBOOST_RETURN_IF_ERROR(Reserve(size));
  size_ = size;  // fresh pages are zero
  return OkStatus();
}

void MemoryImage::WriteAt(uint64_t offset, std::string_view bytes) {
  std::memcpy(data_ + offset, bytes.data(), bytes.size());
}

void MemoryImage::Trim() {
  constexpr uint64_t kPage = 4096;
  const uint64_t used = RoundUp(std::max<uint64_t>(size_, 1), kPage);
  if (used >= capacity_) return;
  munmap(data_ + used, capacity_ - used);
  capacity_ = used;
}

}  // namespace tboost
