#include "src/formats/onnx/wire.h"

#include <limits>

#include "src/formats/onnx/test_messages.h"
#include "src/formats/test_bytes.h"

namespace tboost {
namespace {

using ::testing::ElementsAre;
using testing::FailsWith;
using testing::Field;
using testing::Packed;

Result<WireField> First(std::string_view message) {
  return WireReader(message, message.data()).Next();
}

TEST(Wire, ReadsWhatProtozeroWrites) {
  const int64_t numbers[] = {0, 1, 127, 128, -1, 1 << 20, int64_t{1} << 62, INT64_MAX, INT64_MIN};
  for (const int64_t number : numbers) {
    const auto field = First(Field(536870911, number));
    ASSERT_TRUE(field.ok()) << field.status().message();
    EXPECT_EQ(field->number, 536870911u);
    EXPECT_EQ(static_cast<int64_t>(field->value), number);
  }
  const std::string message = Field(3, "text") + testing::FloatField(4, 1.5f) + Field(5, "");
  WireReader reader(message, message.data());
  EXPECT_EQ(reader.Next()->bytes, "text");
  EXPECT_EQ(reader.Next()->type, WireType::kFixed32);
  EXPECT_FALSE(reader.done());
  EXPECT_EQ(reader.Next()->bytes, "");
  EXPECT_TRUE(reader.done());
}

TEST(Wire, VisitsPackedAndSingleNumbers) {
  std::vector<int64_t> seen;
  const auto visit = [&](uint64_t value) {
    seen.push_back(static_cast<int64_t>(value));
    return OkStatus();
  };
  const std::string packed = Packed(1, {1, -2, 300}), single = Field(1, 7);
  for (const std::string& message : {packed, single}) {
    const auto field = First(message);
    ASSERT_TRUE(ForEachNumber(*field, WireType::kVarint, visit).ok());
  }
  EXPECT_THAT(seen, ElementsAre(1, -2, 300, 7));
  EXPECT_EQ(*CountNumbers(*First(packed), WireType::kVarint), 3u);
  EXPECT_EQ(*CountNumbers(*First(single), WireType::kVarint), 1u);
  const std::string floats = testing::PackedFloats(1, {1, 2});
  EXPECT_EQ(*CountNumbers(*First(floats), WireType::kFixed32), 2u);
}

TEST(Wire, RefusesWrongBytesAndSaysWhere) {
  using namespace std::string_view_literals;
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"\x08"sv, "truncated: a varint at byte 1 does not end"},
      {"\x08\x80"sv, "truncated: a varint at byte 1 does not end"},
      {"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"sv, "longer than 10 bytes"},
      {"\x0d\x01\x02"sv, "truncated: a number at byte 1 needs 4 bytes, 2 left"},
      {"\x09\x01\x02"sv, "truncated: a number at byte 1 needs 8 bytes, 2 left"},
      {"\x0a\x05text"sv, "truncated: field 1 at byte 0 has 5 bytes, 4 left"},
      {"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"sv, "has 18446744073709551615 bytes, 0 left"},
      // A reader of 32-bit lengths would see one byte.
      {"\x0a\x81\x80\x80\x80\x10x"sv, "has 4294967297 bytes, 1 left"},
      {"\x0b"sv, "field 1 at byte 0 has the wire type 3"},
      {"\x0f"sv, "the wire type 7"},
      {"\x00"sv, "a field at byte 0 has the number 0"},
      {"\x80\x80\x80\x80\x10\x00"sv, "has the number 536870912"},
  };
  for (const auto& [bytes, message] : cases)
    EXPECT_THAT(First(bytes), FailsWith(StatusCode::kCorrupt, message)) << Field(1, bytes);
}

TEST(Wire, RefusesNumbersOfAnotherType) {
  const auto ignore = [](uint64_t) { return OkStatus(); };
  WireField field = *First(testing::FloatField(1, 1));
  field.name = "ints";
  EXPECT_THAT(ForEachNumber(field, WireType::kVarint, ignore),
              FailsWith(StatusCode::kCorrupt, "ints at byte 1: expected a varint, got a 32-bit"));
  EXPECT_THAT(CountNumbers(field, WireType::kFixed64),
              FailsWith(StatusCode::kCorrupt, "expected a 64-bit number, got a 32-bit"));
  field.type = WireType::kBytes;
  field.bytes = "12345";
  EXPECT_THAT(CountNumbers(field, WireType::kFixed32),
              FailsWith(StatusCode::kCorrupt, "5 bytes are not whole numbers of 4"));
  EXPECT_THAT(ForEachNumber(field, WireType::kFixed32, ignore),
              FailsWith(StatusCode::kCorrupt, "needs 4 bytes, 1 left"));
  EXPECT_THAT(ExpectType(field, WireType::kFixed64), FailsWith(StatusCode::kCorrupt, "got bytes"));
}

}  // namespace
}  // namespace tboost
