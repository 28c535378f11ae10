#include "src/formats/om/container.h"

#include <cstring>

#include "src/formats/om/layout.h"
#include "src/formats/test_bytes.h"

namespace tboost {
namespace {

using testing::FailsWith;
using testing::TemporaryFolder;

void WriteSample(OmWriter writer) {
  ASSERT_TRUE(writer.AddSection("manifest", "{}").ok());
  ASSERT_TRUE(writer.AddSection("empty", "").ok());
  ASSERT_TRUE(writer.BeginSection("weights", kOmPageAlignment).ok());
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(writer.Append(std::string(1009, 'a' + i % 26)).ok());
  ASSERT_TRUE(writer.EndSection().ok());
  ASSERT_TRUE(writer.AddSection("tail", "xyz").ok());
  ASSERT_TRUE(writer.Finish().ok());
}

std::string Sample() {
  MemoryImage image;
  WriteSample(*OmWriter::ToMemory(&image));
  return std::string(image.bytes());
}

// `bytes` with the header changed by `bend` and its checksum made right again.
template <class F>
std::string Bend(std::string bytes, F bend) {
  om::Header header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  std::vector<om::Entry> table(header.sections);
  char* place = bytes.data() + header.table_offset;
  std::memcpy(table.data(), place, table.size() * sizeof(om::Entry));
  bend(header, table);
  std::memcpy(place, table.data(), table.size() * sizeof(om::Entry));
  header.checksum =
      om::HeaderChecksum(header, std::string_view(bytes).substr(place - bytes.data()));
  std::memcpy(bytes.data(), &header, sizeof(header));
  return bytes;
}

void ExpectSample(const OmReader& reader) {
  EXPECT_EQ(reader.sections().size(), 4u);
  EXPECT_EQ(*reader.Section("manifest"), "{}");
  EXPECT_EQ(*reader.Section("empty"), "");
  EXPECT_EQ(*reader.Section("tail"), "xyz");
  const std::string_view weights = *reader.Section("weights");
  EXPECT_EQ(weights.size(), 1009u * 1000);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(weights.data()) % kOmPageAlignment, 0u);
  EXPECT_EQ(weights[1009 * 3], 'd');
  for (const OmSection& section : reader.sections()) EXPECT_EQ(section.offset % kOmAlignment, 0u);
  EXPECT_TRUE(reader.Has("tail"));
  EXPECT_FALSE(reader.Has("graph"));
  EXPECT_THAT(reader.Section("graph"), FailsWith(StatusCode::kNotFound, "no section \"graph\""));
  EXPECT_TRUE(reader.Verify().ok());
}

TEST(OmContainer, RoundTripsThroughFileAndMemory) {
  const TemporaryFolder folder;
  WriteSample(*OmWriter::Create(folder / "m.om"));
  const auto file = OmReader::Open(folder / "m.om");
  ASSERT_TRUE(file.ok()) << file.status().message();
  ExpectSample(*file);
  const OmSection& weights = file->sections()[2];
  file->Release(weights.offset, weights.size);
  ExpectSample(*file);

  MemoryImage image;
  WriteSample(*OmWriter::ToMemory(&image));
  EXPECT_EQ(image.bytes().size(), file->size());
  auto memory = OmReader::FromMemory(std::move(image));
  ASSERT_TRUE(memory.ok()) << memory.status().message();
  const OmReader moved = std::move(memory).value();
  ExpectSample(moved);
  moved.Release(0, moved.size());
  ExpectSample(moved);
}

TEST(OmContainer, NoFileAppearsWithoutFinish) {
  const TemporaryFolder folder;
  {
    auto writer = OmWriter::Create(folder / "m.om");
    ASSERT_TRUE(writer.ok());
    ASSERT_TRUE(writer->AddSection("a", "b").ok());
  }
  EXPECT_TRUE(folder.Names().empty());
  EXPECT_THAT(OmWriter::Create(folder / "none/m.om"), FailsWith(StatusCode::kNotFound, "m.om"));
}

TEST(OmContainer, WriterRefusesMisuse) {
  MemoryImage image;
  OmWriter writer = *OmWriter::ToMemory(&image);
  const auto refused = [](std::string_view text) {
    return FailsWith(StatusCode::kInvalidArgument, text);
  };
  EXPECT_THAT(writer.Append("x"), refused("outside a section"));
  EXPECT_THAT(writer.EndSection(), refused("no section"));
  for (const std::string& name :
       {std::string(), std::string(64, 'n'), std::string("a b"), std::string("\n")})
    EXPECT_THAT(writer.BeginSection(name), refused("is no section name")) << name;
  for (const uint64_t alignment : {0, 32, 96, 8192})
    EXPECT_THAT(writer.BeginSection("a", alignment), refused("alignment")) << alignment;
  ASSERT_TRUE(writer.BeginSection(std::string(63, 'n')).ok());
  EXPECT_THAT(writer.BeginSection("b"), refused("before the last step ended"));
  EXPECT_THAT(writer.Finish(), refused("inside a section"));
  ASSERT_TRUE(writer.EndSection().ok());
  EXPECT_THAT(writer.BeginSection(std::string(63, 'n')), refused("written twice"));
  ASSERT_TRUE(writer.Finish().ok());
  EXPECT_THAT(writer.Finish(), refused("twice"));
  EXPECT_THAT(writer.BeginSection("c"), refused("before"));
  EXPECT_TRUE(OmReader::FromMemory(std::move(image)).ok());
}

TEST(OmContainer, AnotherMajorVersionSaysWhatToDo) {
  const std::string newer = Bend(Sample(), [](om::Header& h, auto&) { h.major += 1; });
  EXPECT_THAT(OmReader::FromBytes(newer, "m.om"),
              FailsWith(StatusCode::kUnsupported,
                        "m.om: made in .om format 3.0, this program reads 2.x: compile the model "
                        "again with `tboost compile`"));
  const std::string minor = Bend(Sample(), [](om::Header& h, auto&) { h.minor = 9; });
  EXPECT_TRUE(OmReader::FromBytes(minor, "m.om").ok());
}

TEST(OmContainer, RefusesHostileHeadersWithTheRightChecksum) {
  using Table = std::vector<om::Entry>;
  const std::pair<void (*)(om::Header&, Table&), std::string_view> cases[] = {
      {[](om::Header& h, Table&) { h.magic[0] = 'X'; }, "not a .om file"},
      {[](om::Header& h, Table&) { ++h.file_size; }, "truncated"},
      {[](om::Header& h, Table&) { --h.file_size; }, "the header says"},
      {[](om::Header& h, Table&) { h.sections = ~0u; }, "the limit is"},
      {[](om::Header& h, Table&) { h.sections -= 1; }, "does not end"},
      {[](om::Header& h, Table&) { h.sections += 1; }, "does not end"},
      {[](om::Header& h, Table&) { h.table_offset = 0; }, "does not end"},
      {[](om::Header& h, Table&) { h.table_offset -= 64; }, "does not end"},
      {[](om::Header& h, Table&) { h.table_offset += 1; }, "does not end"},
      {[](om::Header& h, Table&) { h.table_offset = ~uint64_t{63}; }, "does not end"},
      {[](om::Header&, Table& t) { t[0].name[0] = '\0'; }, "no section name"},
      {[](om::Header&, Table& t) { t[0].name[63] = 'x'; }, "no section name"},
      {[](om::Header&, Table& t) { std::memset(t[0].name, 'x', 64); }, "no section name"},
      {[](om::Header&, Table& t) { t[0].name[2] = '\n'; }, "no section name"},
      {[](om::Header&, Table& t) { std::memcpy(t[1].name, t[0].name, 64); }, "twice"},
      {[](om::Header&, Table& t) { t[0].offset = 0; }, "expected a multiple"},
      {[](om::Header&, Table& t) { t[0].offset += 8; }, "expected a multiple"},
      {[](om::Header&, Table& t) { t[3].offset += 1 << 20; }, "expected a multiple"},
      {[](om::Header&, Table& t) { t[2].size = ~uint64_t{0}; }, "expected a multiple"},
      {[](om::Header&, Table& t) { t[0].size = 4097; },
       "expected a multiple"},  // overlaps the next
      {[](om::Header&, Table& t) { std::swap(t[0], t[3]); }, "expected a multiple"},
  };
  const std::string sample = Sample();
  for (const auto& [bend, message] : cases)
    EXPECT_THAT(OmReader::FromBytes(Bend(sample, bend), "m.om"),
                FailsWith(StatusCode::kCorrupt, message));
}

TEST(OmContainer, FindsEveryFlippedBit) {
  MemoryImage image;
  OmWriter writer = *OmWriter::ToMemory(&image);
  ASSERT_TRUE(writer.AddSection("a", std::string(64, 'a')).ok());
  ASSERT_TRUE(writer.AddSection("b", std::string(128, 'b')).ok());
  ASSERT_TRUE(writer.Finish().ok());
  const std::string sample(image.bytes());
  for (size_t i = 0; i < sample.size() * 8; ++i) {
    std::string bytes = sample;
    bytes[i / 8] ^= 1 << i % 8;
    const auto reader = OmReader::FromBytes(bytes, "m.om");
    const bool in_section = i / 8 >= sizeof(om::Header) && i / 8 < sizeof(om::Header) + 192;
    EXPECT_EQ(reader.ok(), in_section) << i;
    if (reader.ok()) {
      EXPECT_THAT(reader->Verify(), FailsWith(StatusCode::kCorrupt, "the checksum is")) << i;
    }
  }
  for (size_t size = 0; size < sample.size(); ++size)
    EXPECT_THAT(OmReader::FromBytes(sample.substr(0, size), "m.om"),
                FailsWith(StatusCode::kCorrupt, "truncated"))
        << size;
}

}  // namespace
}  // namespace tboost
