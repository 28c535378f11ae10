// Bounds-checked little-endian reading of untrusted bytes, and the writer that matches it.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "src/base/status.h"

namespace tboost {

// Reads forward through bytes it does not own. Every read checks the bounds; `what` names the thing
// read in the error. Not thread-safe.
class ByteReader {
 public:
  // `name` (a file, usually) starts every message; both must outlive the reader.
  ByteReader(std::string_view bytes, std::string_view name) : bytes_(bytes), name_(name) {}

  size_t offset() const { return offset_; }
  size_t remaining() const { return bytes_.size() - offset_; }
  bool done() const { return remaining() == 0; }

  template <class T>
  requires std::is_trivially_copyable_v<T> Result<T> Read(std::string_view what) {
    if (remaining() < sizeof(T)) return Truncated(what, sizeof(T));
    T value;
    std::memcpy(&value, bytes_.data() + offset_, sizeof(T));
    offset_ += sizeof(T);
    return value;
  }

  // A view of the next `size` bytes.
  Result<std::string_view> ReadBytes(uint64_t size, std::string_view what) {
    if (remaining() < size) return Truncated(what, size);
    std::string_view view = bytes_.substr(offset_, size);
    offset_ += size;
    return view;
  }

  // A u64 length and that many bytes.
  Result<std::string_view> ReadString(std::string_view what) {
    TBOOST_ASSIGN_OR_RETURN(const uint64_t size, Read<uint64_t>(what));
    return ReadBytes(size, what);
  }

 private:
  Status Truncated(std::string_view what, uint64_t size) const {
    return CorruptError("{}: truncated: {} needs {} bytes at offset {}, {} left", name_, what, size,
                        offset_, remaining());
  }

  std::string_view bytes_;
  std::string_view name_;
  size_t offset_ = 0;
};

// Appends what ByteReader reads.
class ByteWriter {
 public:
  template <class T>
  requires std::is_trivially_copyable_v<T>
  void Write(T value) { bytes_.append(reinterpret_cast<const char*>(&value), sizeof(T)); }
  void WriteBytes(std::string_view bytes) { bytes_.append(bytes); }
  void WriteString(std::string_view text) {
    Write<uint64_t>(text.size());
    WriteBytes(text);
  }
  // Appends zeros up to a multiple of `alignment`.
  void Align(size_t alignment) {
    bytes_.resize((bytes_.size() + alignment - 1) / alignment * alignment);
  }
  size_t size() const { return bytes_.size(); }
  const std::string& bytes() const { return bytes_; }
  std::string Take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

}  // namespace tboost
