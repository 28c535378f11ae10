#include "src/formats/gguf/gguf.h"

#include <functional>

#include "src/formats/test_bytes.h"

namespace tboost {
namespace {

using ::testing::ElementsAre;
using testing::FailsWith;
using testing::TemporaryFolder;

constexpr uint32_t kF32Id = 0, kQ4_0Id = 2, kQ2KId = 10;

struct TensorEntry {
  std::string name = "t";
  std::vector<uint64_t> ne = {4};  // innermost first, as in the file
  uint32_t type = kF32Id;
  uint64_t offset = 0;
};

// A file that a test may bend: every count can differ from what is written.
struct GgufFile {
  uint32_t version = 3;
  ByteWriter entries;
  uint64_t entry_count = 0;
  std::vector<TensorEntry> tensors;
  uint64_t tensor_count_excess = 0;
  uint64_t alignment = 32;
  size_t data_bytes = 16;

  template <class T>
  GgufFile& Add(std::string_view key, GgufType type, T value) {
    Key(key, type).Write(value);
    return *this;
  }
  ByteWriter& Key(std::string_view key, GgufType type) {
    ++entry_count;
    entries.WriteString(key);
    entries.Write(type);
    return entries;
  }

  std::string Bytes() const {
    ByteWriter out;
    out.WriteBytes("GGUF");
    out.Write(version);
    out.Write<uint64_t>(tensors.size() + tensor_count_excess);
    out.Write(entry_count);
    out.WriteBytes(entries.bytes());
    for (const TensorEntry& tensor : tensors) {
      out.WriteString(tensor.name);
      out.Write(static_cast<uint32_t>(tensor.ne.size()));
      for (const uint64_t n : tensor.ne) out.Write(n);
      out.Write(tensor.type);
      out.Write(tensor.offset);
    }
    out.Align(alignment);
    out.WriteBytes(std::string(data_bytes, 'd'));
    return out.Take();
  }
  Result<GgufContents> Parse() const { return ParseGguf(bytes_ = Bytes(), "m.gguf"); }

 private:
  mutable std::string bytes_;  // what the result views
};

TEST(Gguf, GivesTensorsWithReversedShape) {
  for (const uint32_t version : {2, 3}) {
    GgufFile file;
    file.version = version;
    file.tensors = {
        {"a", {32, 3}, kQ4_0Id, 0}, {"b", {2, 3, 5, 1}, kF32Id, 64}, {"s", {}, 26, 192}};
    file.data_bytes = 196;
    const auto contents = file.Parse();
    ASSERT_TRUE(contents.ok()) << contents.status().message();
    const auto& [a, b, s] =
        std::tie(contents->tensors[0], contents->tensors[1], contents->tensors[2]);
    EXPECT_EQ(a.dtype, DType::kQ4_0);
    EXPECT_EQ(a.shape, Shape({3, 32}));
    EXPECT_EQ(a.bytes, 3u * 18);
    EXPECT_EQ(a.offset % 32, 0u);
    EXPECT_EQ(b.shape, Shape({1, 5, 3, 2}));
    EXPECT_EQ(b.offset, a.offset + 64);
    EXPECT_EQ(s.dtype, DType::kI32);
    EXPECT_EQ(s.bytes, 4u);
  }
}

TEST(Gguf, ReadsAFileAndItsAlignment) {
  const TemporaryFolder folder;
  GgufFile file;
  file.Add<uint32_t>("general.alignment", GgufType::kU32, 4096).alignment = 4096;
  file.tensors = {{"w", {16}, 24, 0}};
  const auto model = ReadGguf(folder.Write("m.gguf", file.Bytes()));
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_EQ(model->weights.Bytes(*model->weights.Find("w")), std::string(16, 'd'));
  EXPECT_EQ(model->weights.Find("w")->offset, 4096u);
  EXPECT_EQ(*model->metadata.Require<int64_t>("general.alignment"), 4096);

  file.Add<uint16_t>("split.count", GgufType::kU16, 2);
  EXPECT_THAT(ReadGguf(folder.Write("m.gguf", file.Bytes())),
              FailsWith(StatusCode::kUnsupported, "one of 2 parts"));
}

TEST(Gguf, ReadsEveryStorageTypeItNames) {
  const std::pair<uint32_t, uint64_t> sizes[] = {{0, 1024}, {1, 512},   {2, 144},   {3, 160},
                                                 {6, 176},  {8, 272},   {12, 144},  {14, 210},
                                                 {24, 256}, {26, 1024}, {27, 2048}, {30, 512}};
  for (const auto& [id, bytes] : sizes) {
    GgufFile file;
    file.tensors = {{"t", {256}, id, 0}};
    file.data_bytes = bytes;
    const auto contents = file.Parse();
    ASSERT_TRUE(contents.ok()) << contents.status().message();
    EXPECT_EQ(contents->tensors[0].bytes, bytes) << id;
  }
}

struct Hostile {
  std::string_view what;
  std::function<void(GgufFile&)> bend;
  StatusCode code;
  std::string_view message;
};

constexpr StatusCode kCorrupt = StatusCode::kCorrupt, kUnsupported = StatusCode::kUnsupported;
constexpr uint64_t kHuge = uint64_t{1} << 62;

const Hostile kHostileTables[] = {
    {"version 1", [](auto& f) { f.version = 1; }, kUnsupported, "version 1"},
    {"version 4", [](auto& f) { f.version = 4; }, kUnsupported, "version 4"},
    {"big-endian", [](auto& f) { f.version = 0x03000000; }, kUnsupported, "big-endian"},
    {"n_tensors", [](auto& f) { f.tensor_count_excess = kHuge; }, kCorrupt, "truncated"},
    {"n_kv", [](auto& f) { f.entry_count = kHuge; }, kCorrupt, "truncated"},
    {"one tensor too many", [](auto& f) { f.tensor_count_excess = 1; }, kCorrupt, "m.gguf"},
    {"product",
     [](auto& f) {
       f.tensors[0].ne = {INT64_MAX, 2};
     },
     kCorrupt, "overflows"},
    {"product 2",
     [](auto& f) {
       f.tensors[0].ne = {(uint64_t{1} << 42) + 1, 1 << 22};
     },
     kCorrupt, "overflows"},
    {"bytes", [](auto& f) { f.tensors[0].ne = {SIZE_MAX / 4}; }, kCorrupt, "truncated"},
    {"negative", [](auto& f) { f.tensors[0].ne = {~uint64_t{0}}; }, kCorrupt, "dimension 0"},
    {"too large", [](auto& f) { f.tensors[0].ne = {5}; }, kCorrupt, "truncated"},
    {"rank",
     [](auto& f) {
       f.tensors[0].ne = {1, 1, 1, 1, 1};
     },
     kCorrupt, "5 dimensions"},
    {"ragged block",
     [](auto& f) {
       f.tensors[0] = {"t", {16, 2}, kQ4_0Id, 0};
     },
     kCorrupt, "not whole q4_0 blocks"},
    {"block scalar",
     [](auto& f) {
       f.tensors[0] = {"t", {}, kQ4_0Id, 0};
     },
     kCorrupt, "blocks"},
    {"type", [](auto& f) { f.tensors[0].type = 99; }, kUnsupported,
     "\"t\": unknown storage type 99"},
    {"named type",
     [](auto& f) {
       f.tensors[0] = {"t", {256}, kQ2KId, 0};
     },
     kUnsupported, "\"t\": storage type Q2_K"},
    {"unaligned", [](auto& f) { f.tensors[0].offset = 4; }, kCorrupt, "multiple of 32"},
    {"offset", [](auto& f) { f.tensors[0].offset = ~uint64_t{31}; }, kCorrupt, "truncated"},
    {"name twice",
     [](auto& f) {
       f.tensors.push_back({"t", {0}, kF32Id, 32}), f.data_bytes = 32;
     },
     kCorrupt, "twice"},
    {"overlap",
     [](auto& f) {
       f.tensors.push_back({"u", {1}, kF32Id, 0});
     },
     kCorrupt, "from 16 on"},
    {"reversed",
     [](auto& f) {
       f.tensors = {{"t", {4}, kF32Id, 32}, {"u", {4}, kF32Id, 0}};
       f.data_bytes = 48;
     },
     kCorrupt, "from 48 on"},
    {"no data", [](auto& f) { f.data_bytes = 0; }, kCorrupt, "truncated"},
    {"truncated before the data", [](auto& f) { f.data_bytes = 0, f.alignment = 1; }, kCorrupt,
     "truncated"},
};

TEST(Gguf, RefusesHostileTables) {
  const TemporaryFolder folder;
  for (const Hostile& c : kHostileTables) {
    GgufFile file;
    file.tensors = {{}};
    ASSERT_TRUE(file.Parse().ok());
    c.bend(file);
    EXPECT_THAT(ReadGguf(folder.Write("m.gguf", file.Bytes())), FailsWith(c.code, c.message))
        << c.what;
  }
  EXPECT_THAT(ParseGguf("GGML....", "m"), FailsWith(kCorrupt, "\"GGML\""));
}

TEST(Gguf, RefusesBadAlignment) {
  for (const uint32_t alignment : {0u, 1u, 3u, 48u, 1u << 31}) {
    GgufFile file;
    file.Add("general.alignment", GgufType::kU32, alignment);
    EXPECT_THAT(file.Parse(), FailsWith(StatusCode::kCorrupt, "general.alignment is")) << alignment;
  }
  GgufFile text;
  text.Key("general.alignment", GgufType::kString).WriteString("32");
  EXPECT_THAT(text.Parse(), FailsWith(StatusCode::kCorrupt, "an integer"));
}

TEST(Gguf, EveryPrefixOfAFileFails) {
  GgufFile file;
  file.Key("k", GgufType::kString).WriteString("v");
  file.tensors = {{}};
  const std::string bytes = file.Bytes();
  ASSERT_TRUE(ParseGguf(bytes, "m").ok());
  for (size_t size = 0; size < bytes.size(); ++size) {
    const std::string prefix = bytes.substr(0, size);
    EXPECT_THAT(ParseGguf(prefix, "m"), FailsWith(StatusCode::kCorrupt, "truncated")) << size;
  }
}

TEST(GgufMetadata, ReadsEveryScalarType) {
  GgufFile file;
  file.Add<uint8_t>("u8", GgufType::kU8, 200).Add<int8_t>("i8", GgufType::kI8, -100);
  file.Add<uint16_t>("u16", GgufType::kU16, 60000).Add<int16_t>("i16", GgufType::kI16, -30000);
  file.Add<uint32_t>("u32", GgufType::kU32, 4000000000).Add<int32_t>("i32", GgufType::kI32, -7);
  file.Add<uint64_t>("u64", GgufType::kU64, ~uint64_t{0}).Add<int64_t>("i64", GgufType::kI64, -8);
  file.Add<float>("f32", GgufType::kF32, 0.5f).Add<double>("f64", GgufType::kF64, 0.1);
  file.Add<uint8_t>("yes", GgufType::kBool, 1).Add<uint8_t>("no", GgufType::kBool, 0);
  file.Key("text", GgufType::kString).WriteString("a\nb");
  const auto contents = file.Parse();
  ASSERT_TRUE(contents.ok()) << contents.status().message();
  const GgufMetadata& m = contents->metadata;
  EXPECT_EQ(m.entries().size(), 13u);
  EXPECT_EQ(*m.Require<int64_t>("u8"), 200);
  EXPECT_EQ(*m.Require<int64_t>("i8"), -100);
  EXPECT_EQ(*m.Require<int64_t>("u16"), 60000);
  EXPECT_EQ(*m.Require<int64_t>("i16"), -30000);
  EXPECT_EQ(*m.Require<int64_t>("u32"), 4000000000);
  EXPECT_EQ(*m.Require<int64_t>("i32"), -7);
  EXPECT_EQ(*m.Require<int64_t>("i64"), -8);
  EXPECT_EQ(*m.Require<double>("f32"), 0.5);
  EXPECT_EQ(*m.Require<double>("f64"), 0.1);
  EXPECT_EQ(*m.Require<double>("u32"), 4e9);
  EXPECT_TRUE(*m.Require<bool>("yes"));
  EXPECT_FALSE(*m.Get<bool>("no", true));
  EXPECT_EQ(*m.Require<std::string_view>("text"), "a\nb");
  EXPECT_EQ(m.Find("text")->ToString(), "\"a\\x0ab\"");
  EXPECT_EQ(m.Find("u64")->ToString(), "18446744073709551615");

  EXPECT_EQ(*m.Get<int64_t>("absent", 5), 5);
  EXPECT_EQ(m.Find("absent"), nullptr);
  EXPECT_THAT(m.Require<bool>("absent"),
              FailsWith(StatusCode::kNotFound, "m.gguf: metadata \"absent\""));
  EXPECT_THAT(m.Require<int64_t>("u64"), FailsWith(StatusCode::kCorrupt, "an integer, got 184"));
  EXPECT_THAT(m.Get<int64_t>("f32", 1), FailsWith(StatusCode::kCorrupt, "an integer, got 0.5"));
  EXPECT_THAT(m.Require<double>("text"), FailsWith(StatusCode::kCorrupt, "a number, got"));
  EXPECT_THAT(m.Require<GgufArray>("u8"), FailsWith(StatusCode::kCorrupt, "an array, got 200"));
}

TEST(GgufMetadata, ReadsArrays) {
  GgufFile file;
  ByteWriter& strings = file.Key("strings", GgufType::kArray);
  strings.Write(GgufType::kString);
  strings.Write<uint64_t>(3);
  for (const auto text : {"a", "", "long text"}) strings.WriteString(text);
  ByteWriter& numbers = file.Key("numbers", GgufType::kArray);
  numbers.Write(GgufType::kI16);
  numbers.Write<uint64_t>(2);
  numbers.Write<int16_t>(-1);
  numbers.Write<int16_t>(2);
  ByteWriter& nested = file.Key("nested", GgufType::kArray);
  nested.Write(GgufType::kArray);
  nested.Write<uint64_t>(2);
  for (const float value : {1.5f, 2.5f}) {
    nested.Write(GgufType::kF32);
    nested.Write<uint64_t>(1);
    nested.Write(value);
  }
  const auto contents = file.Parse();
  ASSERT_TRUE(contents.ok()) << contents.status().message();
  const GgufMetadata& m = contents->metadata;
  const GgufArray text = *m.Require<GgufArray>("strings");
  EXPECT_THAT(text.Strings(), ElementsAre("a", "", "long text"));
  EXPECT_TRUE(text.Doubles().empty() && text.Integers().empty() && text.Arrays().empty());
  const GgufArray integers = *m.Require<GgufArray>("numbers");
  EXPECT_THAT(integers.Integers(), ElementsAre(-1, 2));
  EXPECT_THAT(integers.Doubles(), ElementsAre(-1.0, 2.0));
  EXPECT_TRUE(integers.Strings().empty());
  const auto arrays = m.Require<GgufArray>("nested")->Arrays();
  ASSERT_EQ(arrays.size(), 2u);
  EXPECT_THAT(arrays[1].Doubles(), ElementsAre(2.5));
  EXPECT_TRUE(arrays[1].Integers().empty());
  EXPECT_EQ(m.Find("nested")->ToString(), "array[2]");
}

TEST(GgufMetadata, RefusesHostileEntries) {
  const auto fails = [](std::string_view message, const std::function<void(GgufFile&)>& bend) {
    GgufFile file;
    bend(file);
    EXPECT_THAT(file.Parse(), FailsWith(StatusCode::kCorrupt, message));
  };
  fails("\"k\" is there twice", [](GgufFile& f) {
    f.Add<uint8_t>("k", GgufType::kU8, 1).Add<uint8_t>("j", GgufType::kU8, 1);
    f.Add<uint32_t>("k", GgufType::kU32, 1);
  });
  fails("unknown value type 13",
        [](GgufFile& f) { f.Key("k", static_cast<GgufType>(13)).Write<uint64_t>(0); });
  fails("truncated", [](GgufFile& f) { f.Key("k", GgufType::kString).Write(~uint64_t{0}); });
  for (const GgufType type : {GgufType::kU8, GgufType::kF64, GgufType::kString, GgufType::kArray}) {
    for (const uint64_t size : {uint64_t{1} << 62, ~uint64_t{0}, uint64_t{1} << 61}) {
      fails("truncated: an array", [&](GgufFile& f) {
        f.Key("k", GgufType::kArray).Write(type);
        f.entries.Write(size);
      });
    }
  }
  fails("nested deeper", [](GgufFile& f) {
    f.Key("k", GgufType::kArray);
    for (int i = 0; i < 100'000; ++i) {
      f.entries.Write(GgufType::kArray);
      f.entries.Write<uint64_t>(1);
    }
  });
}

}  // namespace
}  // namespace tboost
