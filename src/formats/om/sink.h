// Where an OmWriter's bytes go: a file that appears whole, or memory.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "src/base/file.h"
#include "src/base/status.h"

namespace tboost {

// Page-aligned memory that grows without copying. Movable, one owner; not thread-safe.
class MemoryImage {
 public:
  MemoryImage() = default;
  MemoryImage(MemoryImage&& other) noexcept { *this = std::move(other); }
  MemoryImage& operator=(MemoryImage&& other) noexcept;
  ~MemoryImage();

  // Views are valid until the next Append or PadTo.
  std::string_view bytes() const { return {data_, size_}; }
  Status Append(std::string_view bytes);
  Status PadTo(uint64_t alignment);  // zeros up to a multiple of alignment
  // Overwrites bytes that are there already.
  void WriteAt(uint64_t offset, std::string_view bytes);
  // Gives back memory that is reserved beyond the bytes, the rest of a huge page included.
  void Trim();

 private:
  Status Reserve(uint64_t size);

  char* data_ = nullptr;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

// What OmWriter needs of a destination.
class OmSink {
 public:
  virtual ~OmSink() = default;
  virtual Status Append(std::string_view bytes) = 0;
  virtual Status PadTo(uint64_t alignment) = 0;
  virtual Status WriteAt(uint64_t offset, std::string_view bytes) = 0;
  virtual uint64_t size() const = 0;
  // Makes the bytes visible. Nothing follows it.
  virtual Status Commit() = 0;
};

class OmFileSink : public OmSink {
 public:
  explicit OmFileSink(AtomicFile file) : file_(std::move(file)) {}
  Status Append(std::string_view bytes) override { return file_.Write(bytes); }
  Status PadTo(uint64_t alignment) override { return file_.PadTo(alignment); }
  Status WriteAt(uint64_t offset, std::string_view bytes) override {
    return file_.WriteAt(offset, bytes);
  }
  uint64_t size() const override { return file_.size(); }
  Status Commit() override { return file_.Commit(); }

 private:
  AtomicFile file_;
};

class OmMemorySink : public OmSink {
 public:
  // `image` gets the bytes with Commit() and must outlive the sink.
  explicit OmMemorySink(MemoryImage* image) : target_(image) {}
  Status Append(std::string_view bytes) override { return image_.Append(bytes); }
  Status PadTo(uint64_t alignment) override { return image_.PadTo(alignment); }
  Status WriteAt(uint64_t offset, std::string_view bytes) override {
    image_.WriteAt(offset, bytes);
    return OkStatus();
  }
  uint64_t size() const override { return image_.bytes().size(); }
  Status Commit() override {
    *target_ = std::move(image_);
    return OkStatus();
  }

 private:
  MemoryImage* target_;
  MemoryImage image_;
};

}  // namespace tboost
