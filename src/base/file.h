// Files: read-only mappings, and writing through a temporary name so that no half-written file is
// seen.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "src/base/status.h"

namespace tboost {

// A whole regular file mapped read-only. Movable; the bytes live as long as the object. Any number
// of threads may read.
class MappedFile {
 public:
  static Result<MappedFile> Open(const std::string& path);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  std::string_view bytes() const { return {data_, size_}; }
  const std::string& path() const { return path_; }
  // Tells the system that a range was used and need not stay resident. It can be read again.
  void Release(uint64_t offset, uint64_t size) const;

 private:
  MappedFile() = default;
  std::string path_;
  const char* data_ = nullptr;
  size_t size_ = 0;
};

// The whole of a small file; larger than `limit` bytes is an error.
Result<std::string> ReadFile(const std::string& path, uint64_t limit = uint64_t{1} << 30);

// Writes `path` through a temporary file beside it: Commit() renames it into place, destruction
// without Commit() removes it (also on SIGINT/SIGTERM where RemoveTemporaryFiles() is called).
class AtomicFile {
 public:
  static Result<AtomicFile> Create(const std::string& path);
  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&& other) noexcept = delete;
  ~AtomicFile();

  Status Write(std::string_view bytes);                     // appends
  Status WriteAt(uint64_t offset, std::string_view bytes);  // leaves the append position alone
  Status PadTo(uint64_t alignment);                         // zeros up to a multiple of alignment
  uint64_t size() const { return size_; }
  Status Commit();

 private:
  AtomicFile() = default;
  std::string path_, temporary_;
  int fd_ = -1;
  int slot_ = -1;  // in the list that RemoveTemporaryFiles reads
  uint64_t size_ = 0;
};

// Removes the temporary files of all AtomicFiles alive. Async-signal-safe.
void RemoveTemporaryFiles();

// `folder`/`name` if that stays inside `folder` (no "..", no absolute path, no NUL), else an error.
Result<std::string> ContainedPath(const std::string& folder, std::string_view name);

}  // namespace tboost
