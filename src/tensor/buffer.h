// Buffer: one owner of aligned memory.
#pragma once

#include <cstddef>

#include "src/base/status.h"

namespace tboost {

// 64-byte aligned (page-aligned from 1 MiB on, huge pages asked for), zeroed. Movable, freed once.
class Buffer {
 public:
  Buffer() = default;
  static Result<Buffer> Allocate(size_t bytes);
  Buffer(Buffer&& other) noexcept;
  Buffer& operator=(Buffer&& other) noexcept;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer();

  char* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  char* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace tboost
