#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "src/base/bytes.h"
#include "src/base/checked.h"
#include "src/formats/om/container.h"
#include "src/formats/om/layout.h"
#include "src/formats/quoted.h"

namespace tboost {
namespace {

// The header, with everything checked that needs no table.
Result<om::Header> ReadHeader(std::string_view bytes, std::string_view name) {
  ByteReader reader(bytes, name);
  TBOOST_ASSIGN_OR_RETURN(const auto header, reader.Read<om::Header>("the header"));
  if (std::memcmp(header.magic, om::kMagic, sizeof(om::kMagic)) != 0)
    return CorruptError("{}: not a .om file", name);
  if (header.major != om::kMajorVersion)
    return UnsupportedError(
        "{}: made in .om format {}.{}, this program reads {}.x: compile the model again with "
        "`tboost compile`",
        name, header.major, header.minor, om::kMajorVersion);
  if (header.file_size != bytes.size())
    return CorruptError("{}: {}: the header says {} bytes, the file has {}", name,
                        header.file_size > bytes.size() ? "truncated" : "corrupt", header.file_size,
                        bytes.size());
  if (header.sections > kOmMaxSections)
    return CorruptError("{}: {} sections, the limit is {}", name, header.sections, kOmMaxSections);
  const uint64_t table_bytes = header.sections * sizeof(om::Entry);
  if (header.table_offset < sizeof(om::Header) || header.table_offset % kOmAlignment != 0 ||
      !InRange(header.table_offset, table_bytes, bytes.size()) ||
      header.table_offset + table_bytes != bytes.size())
    return CorruptError("{}: a section table of {} bytes at {} does not end the file of {} bytes",
                        name, table_bytes, header.table_offset, bytes.size());
  return header;
}

// Checks one record: its name, and that it lies in [begin, limit).
Result<OmSection> ReadSection(const om::Entry& entry, uint64_t begin, uint64_t limit,
                              std::string_view file_name) {
  const std::string_view field(entry.name, sizeof(entry.name));
  const std::string_view name = field.substr(0, field.find('\0'));
  if (!om::IsSectionName(name) || field.find_first_not_of('\0', name.size()) != field.npos)
    return CorruptError("{}: {} is no section name", file_name, Quoted(field));
  if (entry.offset % kOmAlignment != 0 || entry.offset < begin || entry.offset > limit ||
      !InRange(entry.offset, entry.size, limit))
    return CorruptError("{}: section {}: {} bytes at {}, expected a multiple of {} within {} to {}",
                        file_name, Quoted(name), entry.size, entry.offset, kOmAlignment, begin,
                        limit);
  return OmSection{std::string(name), entry.offset, entry.size, entry.checksum};
}

Result<std::vector<OmSection>> ReadTable(std::string_view bytes, std::string_view name) {
  TBOOST_ASSIGN_OR_RETURN(const om::Header header, ReadHeader(bytes, name));
  const std::string_view table = bytes.substr(header.table_offset);
  if (om::HeaderChecksum(header, table) != header.checksum)
    return CorruptError("{}: the checksum of header and section table does not match", name);
  ByteReader reader(table, name);
  std::vector<OmSection> sections;
  std::set<std::string_view> names;
  sections.reserve(header.sections);  // so that `names` may view them
  uint64_t end = sizeof(om::Header);
  for (uint32_t i = 0; i < header.sections; ++i) {
    TBOOST_ASSIGN_OR_RETURN(const auto entry, reader.Read<om::Entry>("a section's record"));
    TBOOST_ASSIGN_OR_RETURN(OmSection section, ReadSection(entry, end, header.table_offset, name));
    end = section.offset + section.size;
    sections.push_back(std::move(section));
    if (!names.insert(sections.back().name).second)
      return CorruptError("{}: section {} is there twice", name, Quoted(sections.back().name));
  }
  return sections;
}

}  // namespace

Result<OmReader> OmReader::Open(const std::string& path) {
  TBOOST_ASSIGN_OR_RETURN(MappedFile file, MappedFile::Open(path));
  return FromStorage(std::move(file), path);
}

Result<OmReader> OmReader::FromMemory(MemoryImage image) {
  image.Trim();
  return FromStorage(std::move(image), "compiled model in memory");
}

Result<OmReader> OmReader::FromBytes(std::string_view bytes, std::string_view name) {
  return FromStorage(bytes, std::string(name));
}

Result<OmReader> OmReader::FromStorage(Storage storage, std::string name) {
  OmReader reader(std::move(storage), std::move(name));
  TBOOST_ASSIGN_OR_RETURN(reader.sections_, ReadTable(reader.bytes(), reader.name_));
  return reader;
}

std::string_view OmReader::bytes() const {
  return std::visit(
      []<class Held>(const Held& held) -> std::string_view {
        if constexpr (std::is_same_v<Held, std::string_view>) {
          return held;
        } else {
          return held.bytes();
        }
      },
      storage_);
}

const OmSection* OmReader::Find(std::string_view name) const {
  const auto found = std::ranges::find(sections_, name, &OmSection::name);
  return found == sections_.end() ? nullptr : &*found;
}

Result<std::string_view> OmReader::Section(std::string_view name) const {
  const OmSection* section = Find(name);
  if (section == nullptr) return NotFoundError("{}: has no section {}", name_, Quoted(name));
  return bytes().substr(section->offset, section->size);
}

Status OmReader::Verify() const {
  for (const OmSection& section : sections_) {
    const std::string_view contents = bytes().substr(section.offset, section.size);
    const uint64_t checksum = XXH64(contents.data(), contents.size(), 0);
    if (checksum != section.checksum)
      return CorruptError("{}: section {}: the checksum is {:016x}, expected {:016x}", name_,
                          Quoted(section.name), checksum, section.checksum);
  }
  return OkStatus();
}

void OmReader::Release(uint64_t offset, uint64_t size) const {
  if (const auto* file = std::get_if<MappedFile>(&storage_)) file->Release(offset, size);
}

}  // namespace tboost
