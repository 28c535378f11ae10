#include "src/formats/om/layout.h"

#include <xxhash.h>

#include <algorithm>

namespace tboost::om {

uint64_t HeaderChecksum(Header header, std::string_view table) {
  header.checksum = 0;
  // The header's own sum seeds the table's: one value for both, without joining them.
  return XXH64(table.data(), table.size(), XXH64(&header, sizeof(header), 0));
}

bool IsSectionName(std::string_view name) {
  return !name.empty() && name.size() < sizeof(Entry::name) &&
         std::ranges::all_of(name, [](char c) { return c > ' ' && c <= '~'; });
}

}  // namespace tboost::om
