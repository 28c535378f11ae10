#include "src/tensor/buffer.h"

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "src/base/checked.h"

namespace tboost {
namespace {

constexpr size_t kAlignment = 64;
constexpr size_t kMappedFrom = size_t{1} << 20;  // from here on pages come from the system

}  // namespace

Result<Buffer> Buffer::Allocate(size_t bytes) {
  Buffer buffer;
  if (bytes == 0) return buffer;
  void* data = nullptr;
  if (bytes >= kMappedFrom) {
    data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data == MAP_FAILED) data = nullptr;
    if (data) madvise(data, bytes, MADV_HUGEPAGE);  // advice: without it the pages are small
  } else {
    data = std::aligned_alloc(kAlignment, RoundUp(bytes, kAlignment));
    if (data) std::memset(data, 0, bytes);
  }
  if (!data) return ResourceExhaustedError("cannot allocate {} bytes of memory", bytes);
  buffer.data_ = static_cast<char*>(data);
  buffer.size_ = bytes;
  return buffer;
}

Buffer::Buffer(Buffer&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  Buffer taken(std::move(other));
  std::swap(data_, taken.data_);
  std::swap(size_, taken.size_);
  return *this;
}

Buffer::~Buffer() {
  if (size_ >= kMappedFrom)
    munmap(data_, size_);
  else
    std::free(data_);
}

}  // namespace tboost
