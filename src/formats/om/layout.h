// The fixed records of a .om file, as they lie in it (docs/formats/om.md).
#pragma once

#include <cstdint>
#include <string_view>
#include <type_traits>

namespace tboost::om {

inline constexpr char kMagic[8] = {'T', 'B', 'O', 'O', 'S', 'T', 'O', 'M'};
// A reader takes every file of its own major version. A minor version only adds what older readers
// of that major version may ignore.
inline constexpr uint16_t kMajorVersion = 2;
inline constexpr uint16_t kMinorVersion = 0;

struct Header {
  char magic[8];
  uint16_t major;
  uint16_t minor;
  uint32_t sections;
  uint64_t file_size;
  uint64_t table_offset;
  uint64_t checksum;  // HeaderChecksum
  uint8_t reserved[24];
};
static_assert(sizeof(Header) == 64 && std::is_trivially_copyable_v<Header>);

// One record of the section table.
struct Entry {
  char name[64];  // padded with zeros, at least one
  uint64_t offset;
  uint64_t size;
  uint64_t checksum;
};
static_assert(sizeof(Entry) == 88 && std::is_trivially_copyable_v<Entry>);

// What Header::checksum must be: XXH64 of the table, seeded with XXH64 (seed 0) of the header whose
// checksum field is zero.
uint64_t HeaderChecksum(Header header, std::string_view table);

// Printable ASCII without spaces, 1 to 63 bytes.
bool IsSectionName(std::string_view name);

}  // namespace tboost::om
