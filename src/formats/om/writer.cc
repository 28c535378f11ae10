#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "src/base/bytes.h"
#include "src/formats/om/container.h"
#include "src/formats/om/layout.h"
#include "src/formats/quoted.h"

namespace tboost {

struct OmWriter::State {
  std::unique_ptr<OmSink> sink;
  std::vector<OmSection> sections;
  bool in_section = false;
  bool finished = false;
  std::unique_ptr<XXH64_state_t, decltype(&XXH64_freeState)> hash{XXH64_createState(),
                                                                  &XXH64_freeState};
};

OmWriter::OmWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}
OmWriter::OmWriter(OmWriter&&) noexcept = default;
OmWriter::~OmWriter() = default;

Result<OmWriter> OmWriter::Start(std::unique_ptr<OmSink> sink) {
  auto state = std::make_unique<State>();
  if (state->hash == nullptr) return ResourceExhaustedError("no memory for a checksum");
  // The header's place: zeros until Finish(), so that an unfinished file is none.
  const om::Header header{};
  TBOOST_RETURN_IF_ERROR(sink->Append({reinterpret_cast<const char*>(&header), sizeof(header)}));
  state->sink = std::move(sink);
  return OmWriter(std::move(state));
}

Result<OmWriter> OmWriter::Create(const std::string& path) {
  TBOOST_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(path));
  return Start(std::make_unique<OmFileSink>(std::move(file)));
}

Result<OmWriter> OmWriter::ToMemory(MemoryImage* image) {
  return Start(std::make_unique<OmMemorySink>(image));
}

Status OmWriter::BeginSection(std::string_view name, uint64_t alignment) {
  State& s = *state_;
  if (s.in_section || s.finished)
    return InvalidArgumentError("section {} begins before the last step ended", Quoted(name));
  if (!om::IsSectionName(name)) return InvalidArgumentError("{} is no section name", Quoted(name));
  if (std::ranges::find(s.sections, name, &OmSection::name) != s.sections.end())
    return InvalidArgumentError("section {} is written twice", Quoted(name));
  if (s.sections.size() == kOmMaxSections)
    return InvalidArgumentError("more than {} sections", kOmMaxSections);
  if (!std::has_single_bit(alignment) || alignment < kOmAlignment || alignment > kOmPageAlignment)
    return InvalidArgumentError("section {}: alignment {}", Quoted(name), alignment);
  TBOOST_RETURN_IF_ERROR(s.sink->PadTo(alignment));
  s.sections.push_back({.name = std::string(name), .offset = s.sink->size()});
  s.in_section = true;
  XXH64_reset(s.hash.get(), 0);
  return OkStatus();
}

Status OmWriter::Append(std::string_view bytes) {
  State& s = *state_;
  if (!s.in_section) return InvalidArgumentError("bytes outside a section");
  XXH64_update(s.hash.get(), bytes.data(), bytes.size());
  return s.sink->Append(bytes);
}

Status OmWriter::EndSection() {
  State& s = *state_;
  if (!s.in_section) return InvalidArgumentError("no section to end");
  OmSection& section = s.sections.back();
  section.size = s.sink->size() - section.offset;
  section.checksum = XXH64_digest(s.hash.get());
  s.in_section = false;
  return OkStatus();
}

Status OmWriter::AddSection(std::string_view name, std::string_view bytes, uint64_t alignment) {
  TBOOST_RETURN_IF_ERROR(BeginSection(name, alignment));
  TBOOST_RETURN_IF_ERROR(Append(bytes));
  return EndSection();
}

Status OmWriter::Finish() {
  State& s = *state_;
  if (s.in_section || s.finished)
    return InvalidArgumentError("finished inside a section, or twice");
  s.finished = true;
  TBOOST_RETURN_IF_ERROR(s.sink->PadTo(kOmAlignment));
  ByteWriter table;
  for (const OmSection& section : s.sections) {
    om::Entry entry{
        .name = {}, .offset = section.offset, .size = section.size, .checksum = section.checksum};
    section.name.copy(entry.name, sizeof(entry.name) - 1);
    table.Write(entry);
  }
  om::Header header{.magic = {},
                    .major = om::kMajorVersion,
                    .minor = om::kMinorVersion,
                    .sections = static_cast<uint32_t>(s.sections.size()),
                    .file_size = s.sink->size() + table.size(),
                    .table_offset = s.sink->size(),
                    .checksum = 0,
                    .reserved = {}};
  std::memcpy(header.magic, om::kMagic, sizeof(header.magic));
  header.checksum = om::HeaderChecksum(header, table.bytes());
  TBOOST_RETURN_IF_ERROR(s.sink->Append(table.bytes()));
  TBOOST_RETURN_IF_ERROR(
      s.sink->WriteAt(0, {reinterpret_cast<const char*>(&header), sizeof(header)}));
  return s.sink->Commit();
}

}  // namespace tboost
