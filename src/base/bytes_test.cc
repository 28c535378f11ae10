#include "src/base/bytes.h"

#include <gtest/gtest.h>

#include "src/base/checked.h"

namespace tboost {
namespace {

TEST(BytesTest, ReaderReadsWhatTheWriterWrote) {
  ByteWriter writer;
  writer.Write<uint8_t>(7);
  writer.WriteString("name");
  writer.Align(16);
  writer.Write<double>(1.5);
  EXPECT_EQ(writer.size(), 24u);
  const std::string bytes = writer.Take();

  ByteReader reader(bytes, "file");
  EXPECT_EQ(*reader.Read<uint8_t>("version"), 7);
  EXPECT_EQ(*reader.ReadString("text"), "name");
  ASSERT_TRUE(reader.ReadBytes(3, "padding").ok());
  EXPECT_EQ(*reader.Read<double>("value"), 1.5);
  EXPECT_TRUE(reader.done());
}

TEST(BytesTest, ReadingBeyondTheEndNamesWhatWasRead) {
  const std::string bytes("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFFxyz", 11);
  ByteReader reader(bytes, "file");
  EXPECT_FALSE(reader.ReadBytes(~uint64_t{0}, "blob").ok());
  const Status status = reader.ReadString("text").status();
  EXPECT_EQ(status.code(), StatusCode::kCorrupt);
  EXPECT_EQ(status.message(),
            "file: truncated: text needs 18446744073709551615 bytes at offset 8, 3 left");
  EXPECT_EQ(reader.Read<uint32_t>("count").status().message(),
            "file: truncated: count needs 4 bytes at offset 8, 3 left");
}

TEST(CheckedTest, OverflowIsSeen) {
  const uint64_t max = ~uint64_t{0};
  EXPECT_EQ(CheckedMul(max, 1), max);
  EXPECT_FALSE(CheckedMul(uint64_t{1} << 32, uint64_t{1} << 32).has_value());
  EXPECT_EQ(CheckedAdd(max - 1, 1), max);
  EXPECT_FALSE(CheckedAdd(max, 1).has_value());
  EXPECT_TRUE(InRange(5, 5, 10));
  EXPECT_TRUE(InRange(10, 0, 10));
  EXPECT_FALSE(InRange(6, 5, 10));
  EXPECT_FALSE(InRange(11, 0, 10));
  EXPECT_FALSE(InRange(5, max, 10));
  EXPECT_EQ(DivUp(max, 2), (max >> 1) + 1);
  EXPECT_EQ(RoundUp(17, 16), 32u);
}

}  // namespace
}  // namespace tboost
