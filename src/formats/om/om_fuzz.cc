#include <cstring>
#include <vector>

#include "src/formats/om/container.h"
#include "src/formats/om/layout.h"

namespace {

void Read(std::string_view bytes) {
  const auto reader = tboost::OmReader::FromBytes(bytes, "fuzz");
  if (!reader.ok()) return;
  for (const tboost::OmSection& section : reader->sections()) {
    const auto contents = reader->Section(section.name);
    if (!contents.ok() || contents->size() != section.size) __builtin_trap();
  }
  if (reader->Has("no such section") || reader->Section("no such section").ok()) __builtin_trap();
  (void)reader->Verify();
}

}  // namespace

// Reads the input as it is, and once more with the checksum of its header made right: what a
// hostile writer would do, and what random bytes would never find.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::vector<char> bytes(data, data + size);
  Read({bytes.data(), size});
  tboost::om::Header header;
  if (size < sizeof(header)) return 0;
  std::memcpy(&header, bytes.data(), sizeof(header));
  if (header.table_offset > size) return 0;
  header.checksum = tboost::om::HeaderChecksum(
      header, std::string_view(bytes.data(), size).substr(header.table_offset));
  std::memcpy(bytes.data(), &header, sizeof(header));
  Read({bytes.data(), size});
  return 0;
}
