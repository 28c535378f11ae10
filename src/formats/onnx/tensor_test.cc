#include "src/formats/onnx/tensor.h"

#include <cstring>

#include "src/formats/onnx/test_messages.h"
#include "src/formats/test_bytes.h"

namespace tboost {
namespace {

using ::testing::ElementsAre;
using testing::FailsWith;
using testing::Field;
using testing::ModelOfTensor;
using testing::Packed;
using testing::Parse;
using testing::TensorHead;
using Type = OnnxDataType;

constexpr auto kCorrupt = StatusCode::kCorrupt;

// The bytes of the only initializer of a model, and whether they lie in the file as such.
struct Decoded {
  std::string bytes;
  bool in_place = false;
  bool operator==(const Decoded&) const = default;
};
Result<Decoded> Decode(const std::string& tensor) {
  const std::string bytes = ModelOfTensor(tensor);
  TBOOST_ASSIGN_OR_RETURN(const OnnxModel model, Parse(bytes));
  const OnnxTensor& initializer = model.graph.initializers[0];
  TBOOST_ASSIGN_OR_RETURN(std::string read, model.Read(initializer));
  EXPECT_EQ(read.size(), initializer.bytes);
  if (initializer.range) {
    EXPECT_EQ(model.Bytes(*initializer.range), read);
    EXPECT_EQ(bytes.substr(initializer.range->offset, initializer.range->size), read);
  }
  return Decoded{read, initializer.range.has_value()};
}

template <class T>
std::string BytesOf(std::initializer_list<T> values) {
  return std::string(reinterpret_cast<const char*>(values.begin()), values.size() * sizeof(T));
}

TEST(OnnxTensor, RawBytesLieInTheFile) {
  const uint64_t sizes[] = {24, 6,  6, 12, 12, 24, 48, 0, 6, 12, 48, 24, 48, 48,
                            96, 12, 6, 6,  6,  6,  3,  3, 3, 6,  2,  2,  5,  5};
  for (const OnnxDataTypeInfo& info : AllOnnxDataTypes()) {
    if (info.bits == 0) continue;
    const std::string data(sizes[static_cast<int>(info.type) - 1], 'd');
    const auto decoded = Decode(testing::RawTensor("w", info.type, {2, 3}, data));
    ASSERT_TRUE(decoded.ok()) << decoded.status().message();
    EXPECT_EQ(*decoded, (Decoded{data, true})) << info.name;
    EXPECT_THAT(Decode(testing::RawTensor("w", info.type, {2, 3}, data + "d")),
                FailsWith(kCorrupt, fmt::format("m.onnx: tensor \"w\": raw_data has {} bytes, {} "
                                                "[2, 3] takes {}",
                                                data.size() + 1, info.name, data.size())));
  }
  EXPECT_EQ(std::size(sizes), AllOnnxDataTypes().size());
}

TEST(OnnxTensor, SizesAgreeWithTheEnginesTypes) {
  int known = 0;
  for (const OnnxDataTypeInfo& info : AllOnnxDataTypes()) {
    EXPECT_EQ(FindOnnxDataType(info.type), &info);
    EXPECT_EQ(OnnxDataTypeName(info.type), info.name);
    if (!info.dtype) continue;
    ++known;
    EXPECT_EQ(StorageBytes(*info.dtype, 3), 3u * info.bits / 8) << info.name;
  }
  EXPECT_EQ(known, 8);
  EXPECT_EQ(FindOnnxDataType(Type::kUndefined), nullptr);
  EXPECT_EQ(OnnxDataTypeName(Type{99}), "data type 99");
}

TEST(OnnxTensor, DecodesTypedFields) {
  const auto typed = [](Type type, int64_t n, uint32_t field, const std::vector<int64_t>& values) {
    return Decode(TensorHead("w", type, {n}) + Packed(field, values));
  };
  const auto decoded = [](std::string bytes) { return Decoded{std::move(bytes), false}; };
  EXPECT_EQ(*typed(Type::kInt8, 3, 5, {-128, 127, 255}), decoded("\x80\x7f\xff"));
  EXPECT_EQ(*typed(Type::kBool, 2, 5, {1, 0}), decoded(std::string("\1\0", 2)));
  EXPECT_EQ(*typed(Type::kFloat16, 2, 5, {0x3c00, 0xbc00}), decoded(BytesOf({0xbc003c00u})));
  EXPECT_EQ(*typed(Type::kBfloat16, 1, 5, {0x3f80}), decoded("\x80\x3f"));
  EXPECT_EQ(*typed(Type::kInt16, 1, 5, {-2}), decoded("\xfe\xff"));
  EXPECT_EQ(*typed(Type::kInt32, 2, 5, {-2, 7}), decoded(BytesOf<int32_t>({-2, 7})));
  EXPECT_EQ(*typed(Type::kInt4, 3, 5, {0x21, 0x03}), decoded("\x21\x03"));
  EXPECT_EQ(*typed(Type::kUint2, 5, 5, {0xe4, 1}), decoded("\xe4\x01"));
  EXPECT_EQ(*typed(Type::kInt64, 2, 7, {INT64_MIN, 5}), decoded(BytesOf<int64_t>({INT64_MIN, 5})));
  EXPECT_EQ(*typed(Type::kUint64, 1, 11, {-1}), decoded(std::string(8, '\xff')));
  EXPECT_EQ(*typed(Type::kUint32, 1, 11, {0xffffffff}), decoded(std::string(4, '\xff')));
  // Split over several fields, as protobuf allows.
  EXPECT_EQ(*Decode(TensorHead("w", Type::kInt64, {3}) + Field(7, 1) + Packed(7, {2, 3})),
            decoded(BytesOf<int64_t>({1, 2, 3})));
  EXPECT_EQ(*Decode(TensorHead("w", Type::kFloat, {2}) + testing::FloatField(4, 1) +
                    testing::FloatField(4, 2)),
            decoded(BytesOf<float>({1, 2})));
}

TEST(OnnxTensor, PackedFloatsLieInTheFile) {
  EXPECT_EQ(*Decode(TensorHead("w", Type::kFloat, {2}) + testing::PackedFloats(4, {1, 2})),
            (Decoded{BytesOf<float>({1, 2}), true}));
  EXPECT_EQ(*Decode(TensorHead("w", Type::kComplex64, {1}) + testing::PackedFloats(4, {1, 2})),
            (Decoded{BytesOf<float>({1, 2}), true}));
  EXPECT_EQ(*Decode(TensorHead("w", Type::kDouble, {1}) + Field(10, BytesOf<double>({2.5}))),
            (Decoded{BytesOf<double>({2.5}), true}));
}

TEST(OnnxTensor, EmptyOnesNeedNoData) {
  for (const Type type : {Type::kFloat, Type::kInt64, Type::kInt4})
    EXPECT_EQ(*Decode(TensorHead("w", type, {2, 0, 3})), (Decoded{"", true}));
  EXPECT_EQ(*Decode(testing::RawTensor("w", Type::kFloat, {0, INT64_MAX / 4}, "")),
            (Decoded{"", true}));
  // An empty raw_data beside a typed field says nothing.
  EXPECT_EQ(*Decode(testing::RawTensor("w", Type::kInt64, {1}, "") + Field(7, 1)),
            (Decoded{BytesOf<int64_t>({1}), false}));
}

TEST(OnnxTensor, ReadsStrings) {
  const std::string bytes =
      ModelOfTensor(TensorHead("w", Type::kString, {2}) + Field(6, "a") + Field(6, ""));
  const auto model = Parse(bytes);
  ASSERT_TRUE(model.ok()) << model.status().message();
  const OnnxTensor& tensor = model->graph.initializers[0];
  EXPECT_THAT(*model->ReadStrings(tensor), ElementsAre("a", ""));
  EXPECT_THAT(model->Read(tensor), FailsWith(StatusCode::kUnsupported, "STRING in string_data"));
  EXPECT_THAT(Parse(ModelOfTensor(TensorHead("w", Type::kString, {2}) + Field(6, "a"))),
              FailsWith(kCorrupt, "STRING [2] needs 2 entries of string_data, got 1"));
  EXPECT_THAT(Parse(ModelOfTensor(testing::RawTensor("w", Type::kString, {1}, "a"))),
              FailsWith(kCorrupt, "strings in raw_data"));
  const std::string numbers = ModelOfTensor(testing::RawTensor("w", Type::kUint8, {1}, "a"));
  const auto other = Parse(numbers);
  EXPECT_THAT(other->ReadStrings(other->graph.initializers[0]),
              FailsWith(StatusCode::kInvalidArgument, "UINT8 elements are no strings"));
}

TEST(OnnxTensor, RefusesSizesThatDisagree) {
  const std::pair<std::string, std::string> cases[] = {
      {TensorHead("w", Type::kFloat, {2}), "FLOAT [2] needs 2 entries of float_data, got 0"},
      {TensorHead("w", Type::kInt64, {2}) + Packed(7, {1, 2, 3}), "needs 2 entries of int64_data"},
      {TensorHead("w", Type::kInt4, {3}) + Packed(5, {1}), "needs 2 entries of int32_data, got 1"},
      {TensorHead("w", Type::kFloat, {-1}), "FLOAT [-1]: a negative dimension"},
      {TensorHead("w", Type::kFloat, {INT64_MAX, 2}), "the size of FLOAT [9223372036854775807, 2]"},
      {TensorHead("w", Type::kFloat, {int64_t{1} << 32, int64_t{1} << 32}), "overflows"},
      {TensorHead("w", Type::kDouble, {int64_t{1} << 61}), "overflows"},
      {TensorHead("w", Type::kInt64, {1}) + testing::PackedFloats(4, {1}),
       "INT64 [1] in float_data, expected int64_data"},
      {TensorHead("w", Type::kFloat, {1}) + testing::PackedFloats(4, {1}) + Packed(7, {1}),
       "data in both float_data and int64_data"},
      {testing::RawTensor("w", Type::kFloat, {1}, "1234") + testing::PackedFloats(4, {1}),
       "data in both raw_data and float_data"},
      {TensorHead("w", Type::kFloat, {1}) + Field(4, "12345"),
       "5 bytes are not whole numbers of 4"},
      {TensorHead("w", Type::kString, {1}) + Field(6, 1), "string_data at byte"},
      {TensorHead("w", Type::kFloat, {1}) + Field(9, 1), "raw_data at byte"},
  };
  for (const auto& [tensor, message] : cases) {
    EXPECT_THAT(Decode(tensor), FailsWith(kCorrupt, message));
    EXPECT_THAT(Decode(tensor), FailsWith(kCorrupt, "m.onnx: tensor \"w\": "));
  }
}

TEST(OnnxTensor, RefusesWhatIsNotSupportedByName) {
  const std::pair<std::string, std::string> cases[] = {
      {TensorHead("w", Type::kUndefined, {}), "unknown data type 0; 1 to 28 are known"},
      {TensorHead("w", Type{29}, {}), "unknown data type 29"},
      {TensorHead("w", Type::kFloat, {1, 1, 1, 1, 1, 1, 1, 1, 1}), "9 dimensions, at most 8"},
      {TensorHead("w", Type::kFloat, {}) + Field(3, ""), "one segment of a tensor"},
      {TensorHead("w", Type::kFloat, {}) + Field(14, 2), "FLOAT data at the location 2"},
      {TensorHead("w", Type::kString, {}) + Field(14, 1), "STRING data at the location 1"},
      {TensorHead("w", Type::kFloat6E2M3, {1}) + Field(5, 1), "FLOAT6E2M3 in int32_data"},
  };
  for (const auto& [tensor, message] : cases)
    EXPECT_THAT(Decode(tensor), FailsWith(StatusCode::kUnsupported, message));
}

TEST(OnnxTensor, RefusesNumbersThatDoNotFit) {
  const auto fails = [](Type type, int64_t value, std::string_view message) {
    EXPECT_THAT(Decode(TensorHead("w", type, {2}) + Packed(5, {1, value})),
                FailsWith(kCorrupt, message));
  };
  fails(Type::kInt8, 256, "m.onnx: tensor \"w\": element 1 is 256, more than 8 bits");
  fails(Type::kInt8, -129, "element 1 is -129");
  fails(Type::kFloat16, 65536, "more than 16 bits");
  fails(Type::kInt32, int64_t{1} << 32, "element 1 is 4294967296, more than 32 bits");
  // A packed run whose last varint is cut off holds one number less.
  EXPECT_THAT(Decode(TensorHead("w", Type::kInt64, {1}) + Field(7, "\x01\x80")),
              FailsWith(kCorrupt, "truncated: a varint"));
}

}  // namespace
}  // namespace tboost
