#include "src/formats/safetensors/safetensors.h"

#include "src/formats/test_bytes.h"

namespace tboost {
namespace {

using testing::FailsWith;
using testing::SafetensorsFile;
using testing::TemporaryFolder;

Result<std::vector<RawTensor>> Parse(std::string_view header, size_t data_bytes) {
  return ParseSafetensors(SafetensorsFile(header, std::string(data_bytes, 'd')), "m.safetensors");
}

TEST(Safetensors, GivesTensorsByOffset) {
  const std::string header = R"({"__metadata__":{"format":"pt"},)"
                             R"("a":{"dtype":"F32","shape":[2,3],"data_offsets":[8,32]},)"
                             R"("b":{"dtype":"I64","shape":[],"data_offsets":[0,8]},)"
                             R"("c":{"dtype":"BF16","shape":[0,7],"data_offsets":[32,32]}}   )";
  const auto tensors = Parse(header, 32);
  ASSERT_TRUE(tensors.ok()) << tensors.status().message();
  ASSERT_EQ(tensors->size(), 3u);
  const RawTensor& b = (*tensors)[0];
  EXPECT_EQ(b.name, "b");
  EXPECT_EQ(b.dtype, DType::kI64);
  EXPECT_EQ(b.shape.rank(), 0);
  EXPECT_EQ(b.offset, 8 + header.size());
  EXPECT_EQ(b.bytes, 8u);
  const RawTensor& a = (*tensors)[1];
  EXPECT_EQ(a.shape, Shape({2, 3}));
  EXPECT_EQ(a.offset, 16 + header.size());
  EXPECT_EQ(a.bytes, 24u);
  EXPECT_EQ((*tensors)[2].bytes, 0u);
}

TEST(Safetensors, MapsAFileAndFindsByName) {
  const TemporaryFolder folder;
  const std::string path = folder.Write(
      "m.safetensors", SafetensorsFile(R"({"x":{"dtype":"U8","shape":[3],"data_offsets":[0,3]},)"
                                       R"("y":{"dtype":"I8","shape":[2],"data_offsets":[3,5]}})",
                                       "abcde"));
  const auto model = ReadSafetensors(path);
  ASSERT_TRUE(model.ok()) << model.status().message();
  ASSERT_NE(model->Find("y"), nullptr);
  EXPECT_EQ(model->Bytes(*model->Find("y")), "de");
  EXPECT_EQ(model->Bytes(*model->Find("x")), "abc");
  model->Release(*model->Find("x"));
  EXPECT_EQ(model->Bytes(*model->Find("x")), "abc");
  EXPECT_EQ(model->Find("z"), nullptr);
  EXPECT_EQ(model->Find(""), nullptr);
  EXPECT_THAT(ReadSafetensors(folder / "none"), FailsWith(StatusCode::kNotFound, "none"));
}

TEST(Safetensors, ReadsBackWhatItWrites) {
  const TemporaryFolder folder;
  const std::vector<SafetensorsTensor> tensors = {
      {"z.weight", DType::kBF16, {2, 2}, "12345678"},
      {"a \"quoted\" \xc3\xa9", DType::kI8, {}, "x"},
      {"none", DType::kF32, {0, 4}, ""},
  };
  ASSERT_TRUE(WriteSafetensors(folder / "m", tensors).ok());
  const auto model = ReadSafetensors(folder / "m");
  ASSERT_TRUE(model.ok()) << model.status().message();
  ASSERT_EQ(model->tensors().size(), tensors.size());
  for (const SafetensorsTensor& tensor : tensors) {
    const RawTensor* found = model->Find(tensor.name);
    ASSERT_NE(found, nullptr) << tensor.name;
    EXPECT_EQ(found->dtype, tensor.dtype);
    EXPECT_EQ(found->shape, tensor.shape);
    EXPECT_EQ(model->Bytes(*found), tensor.bytes);
  }
  EXPECT_EQ(model->Find("z.weight")->offset % 64, 0u);
}

TEST(Safetensors, WriterRefusesWhatTheFormatLacks) {
  const TemporaryFolder folder;
  const std::vector<SafetensorsTensor> cases[] = {
      {{"a", DType::kQ4_0, {32}, "123456789012345678"}},
      {{"a", DType::kF32, {2}, "1234"}},
      {{"a", DType::kU8, {-1}, ""}},
      {{"__metadata__", DType::kU8, {1}, "1"}},
      {{"\xff", DType::kU8, {1}, "1"}},
      {{"a", DType::kU8, {1}, "1"}, {"a", DType::kU8, {1}, "1"}},
  };
  for (const auto& tensors : cases)
    EXPECT_THAT(WriteSafetensors(folder / "m", tensors),
                FailsWith(StatusCode::kInvalidArgument, "tensor \""));
  EXPECT_TRUE(folder.Names().empty());
}

TEST(Safetensors, RefusesHeaderLengthsBeyondTheFile) {
  for (const uint64_t length : {uint64_t{3}, uint64_t{100'000'001}, ~uint64_t{0}, ~uint64_t{7}}) {
    ByteWriter file;
    file.Write<uint64_t>(length);
    file.WriteBytes("{}");
    EXPECT_THAT(ParseSafetensors(file.bytes(), "m"), FailsWith(StatusCode::kCorrupt, "length"));
  }
  EXPECT_THAT(ParseSafetensors("1234567", "m"), FailsWith(StatusCode::kCorrupt, "truncated"));
}

struct Hostile {
  std::string_view header;
  size_t data_bytes;
  StatusCode code;
  std::string_view message;
};

TEST(Safetensors, RefusesHostileHeaders) {
  constexpr StatusCode kCorrupt = StatusCode::kCorrupt, kUnsupported = StatusCode::kUnsupported;
  const Hostile cases[] = {
      {"", 0, kCorrupt, "m.safetensors"},
      {"[]", 0, kCorrupt, "no JSON object"},
      {R"({"a":1})", 0, kCorrupt, "\"a\""},
      {R"({"a":{"dtype":"F32","shape":[1],"offsets":[0,4]}})", 4, kCorrupt, "data_offsets"},
      {R"({"a":{"dtype":7,"shape":[1],"data_offsets":[0,4]}})", 4, kCorrupt, "dtype"},
      {R"({"a":{"dtype":"F64","shape":[1],"data_offsets":[0,8]}})", 8, kUnsupported, "F64"},
      {R"({"a":{"dtype":"F33","shape":[1],"data_offsets":[0,8]}})", 8, kUnsupported, "F33"},
      {R"({"a":{"dtype":"F32","shape":1,"data_offsets":[0,4]}})", 4, kCorrupt, "shape"},
      {R"({"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})", 4, kCorrupt, "shape"},
      {R"({"a":{"dtype":"F32","shape":[1.0],"data_offsets":[0,4]}})", 4, kCorrupt, "shape"},
      {R"({"a":{"dtype":"F32","shape":[1,1,1,1,1,1,1,1,1],"data_offsets":[0,4]}})", 4, kUnsupported,
       "9 dimensions"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0]}})", 4, kCorrupt, "two"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,0]}})", 4, kCorrupt, "backwards"},
      {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})", 4, kCorrupt, "8 bytes"},
      // 2^32 x 2^32 wraps to 0 in 64 bits.
      {R"({"a":{"dtype":"U8","shape":[4294967296,4294967296],"data_offsets":[0,0]}})", 0, kCorrupt,
       "overflows"},
      {R"({"a":{"dtype":"F32","shape":[4611686018427387904],"data_offsets":[0,0]}})", 0, kCorrupt,
       "overflows"},
      {R"({"a":{"dtype":"F32","shape":[0,65536],"data_offsets":[0,1024]}})", 1024, kCorrupt,
       "takes 0 bytes"},
      {R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}})", 3, kCorrupt, "truncated"},
      {R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}})", 5, kCorrupt, "follow the last"},
      {R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[1,5]}})", 5, kCorrupt, "gap"},
      {R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},)"
       R"("b":{"dtype":"U8","shape":[4],"data_offsets":[2,6]}})",
       6, kCorrupt, "inside the one before"},
      {R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
       R"("a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})",
       1, kCorrupt, "twice"},
  };
  for (const Hostile& c : cases)
    EXPECT_THAT(Parse(c.header, c.data_bytes), FailsWith(c.code, c.message)) << c.header;
}

TEST(Safetensors, RefusesDeepJson) {
  EXPECT_THAT(Parse(R"({"a":)" + std::string(100'000, '['), 0),
              FailsWith(StatusCode::kCorrupt, "deeper"));
}

TEST(Safetensors, EscapesNamesInMessages) {
  EXPECT_THAT(Parse("{\"\\u001b[2J" + std::string(5000, 'x') + "\":1}", 0),
              FailsWith(StatusCode::kCorrupt, "\"\\x1b[2Jxxx"));
}

TEST(SafetensorsIndex, GivesTensorAndShard) {
  const auto index =
      ParseSafetensorsIndex(R"({"metadata":{},"weight_map":{"b":"2","a":"1"}})", "i");
  ASSERT_TRUE(index.ok()) << index.status().message();
  EXPECT_THAT(*index, ::testing::ElementsAre(std::pair<std::string, std::string>("a", "1"),
                                             std::pair<std::string, std::string>("b", "2")));
  for (const auto bad : {"[]", "{}", R"({"weight_map":[]})", R"({"weight_map":{"a":1}})"})
    EXPECT_THAT(ParseSafetensorsIndex(bad, "i"), FailsWith(StatusCode::kCorrupt, "i: ")) << bad;
}

}  // namespace
}  // namespace tboost
