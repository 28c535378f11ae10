// The .om container: named, aligned, checksummed sections in one file (docs/formats/om.md). What
// the sections hold is bytes to this layer.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "src/base/file.h"
#include "src/base/status.h"
#include "src/formats/om/sink.h"

namespace tboost {

inline constexpr uint64_t kOmAlignment = 64;        // of every section
inline constexpr uint64_t kOmPageAlignment = 4096;  // for sections that are mapped as weights
inline constexpr size_t kOmMaxSections = 4096;

struct OmSection {
  std::string name;
  uint64_t offset = 0;  // from the start of the file
  uint64_t size = 0;
  uint64_t checksum = 0;  // XXH64 of the contents, seed 0
};

// Streams sections out, one after the other. One thread at a time; after a failure only destruction
// is left. A file appears under its name with Finish(), whole, or not at all.
class OmWriter {
 public:
  static Result<OmWriter> Create(const std::string& path);
  // Into memory. `image` gets the bytes with Finish() and must outlive the writer.
  static Result<OmWriter> ToMemory(MemoryImage* image);
  OmWriter(OmWriter&&) noexcept;
  ~OmWriter();

  // `alignment` is a power of two from kOmAlignment to kOmPageAlignment. Names are printable ASCII
  // without spaces, 1 to 63 bytes, each used once. A misuse is kInvalidArgument.
  Status BeginSection(std::string_view name, uint64_t alignment = kOmAlignment);
  Status Append(std::string_view bytes);
  Status EndSection();
  // The three in one.
  Status AddSection(std::string_view name, std::string_view bytes,
                    uint64_t alignment = kOmAlignment);
  Status Finish();

 private:
  struct State;
  explicit OmWriter(std::unique_ptr<State> state);
  static Result<OmWriter> Start(std::unique_ptr<OmSink> sink);
  std::unique_ptr<State> state_;
};

// A verified container. Movable; any number of threads may read. Section contents live as long as
// the reader (for FromBytes: as the caller's bytes).
class OmReader {
 public:
  // Header and section table are verified: magic, version, sizes, bounds, alignment, order, names
  // and their checksum. A file of another major version is kUnsupported and says to compile again.
  static Result<OmReader> Open(const std::string& path);
  static Result<OmReader> FromMemory(MemoryImage image);
  // `bytes` must be 64-byte aligned where sections are used in place.
  static Result<OmReader> FromBytes(std::string_view bytes, std::string_view name);

  const std::vector<OmSection>& sections() const { return sections_; }
  bool Has(std::string_view name) const { return Find(name) != nullptr; }
  // kNotFound, with the file and the section named, where there is none.
  Result<std::string_view> Section(std::string_view name) const;
  // Recomputes the checksum of every section; names the first that differs.
  Status Verify() const;
  uint64_t size() const { return bytes().size(); }
  // Tells the system that a range of the file was used and need not stay resident. Does nothing for
  // a container in memory.
  void Release(uint64_t offset, uint64_t size) const;

 private:
  using Storage = std::variant<std::string_view, MappedFile, MemoryImage>;
  OmReader(Storage storage, std::string name)
      : storage_(std::move(storage)), name_(std::move(name)) {}
  static Result<OmReader> FromStorage(Storage storage, std::string name);
  std::string_view bytes() const;
  const OmSection* Find(std::string_view name) const;

  Storage storage_;
  std::string name_;
  std::vector<OmSection> sections_;
};

}  // namespace tboost
