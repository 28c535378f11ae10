#include "src/base/utf8.h"

#include <gtest/gtest.h>

#include <string>

namespace tboost {
namespace {

TEST(Utf8Test, EveryCodePointRoundTrips) {
  for (char32_t code_point = 0; code_point <= 0x10FFFF; ++code_point) {
    const bool surrogate = code_point >= 0xD800 && code_point <= 0xDFFF;
    std::string text;
    AppendUtf8(code_point, text);
    const Utf8Step step = DecodeUtf8(text);
    ASSERT_TRUE(step.valid);
    ASSERT_EQ(step.code_point, surrogate ? kReplacementCharacter : code_point);
    ASSERT_EQ(step.size, static_cast<int>(text.size()));
    // Each proper prefix is incomplete, not wrong.
    for (size_t size = 1; size < text.size(); ++size) {
      const Utf8Step part = DecodeUtf8(text.substr(0, size));
      ASSERT_FALSE(part.valid);
      ASSERT_TRUE(part.truncated);
      ASSERT_EQ(part.size, static_cast<int>(size));
    }
  }
  std::string text;
  AppendUtf8(0x110000, text);
  EXPECT_EQ(text, "\xEF\xBF\xBD");
}

TEST(Utf8Test, InvalidSequences) {
  // Continuation alone, overlong forms, surrogate, beyond U+10FFFF, bytes that never occur, broken
  // off.
  for (const char* text :
       {"\x80", "\xC0\x80", "\xC1\xBF", "\xE0\x80\x80", "\xED\xA0\x80", "\xF0\x80\x80\x80",
        "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF", "\xE2\x82X", "\xC3("}) {
    EXPECT_FALSE(DecodeUtf8(text).valid) << text;
    EXPECT_FALSE(DecodeUtf8(text).truncated) << text;
    EXPECT_FALSE(IsValidUtf8(text)) << text;
  }
  EXPECT_EQ(DecodeUtf8("").size, 0);
  EXPECT_EQ(ValidUtf8Prefix("ab\xC3\xA9\xFFz"), 4u);
  EXPECT_TRUE(IsValidUtf8("ab\xC3\xA9 \xF0\x9F\x98\x80"));
}

TEST(Utf8Test, ReplacementMatchesUnicodeAdvice) {
  // As Python's bytes.decode("utf-8", "replace").
  EXPECT_EQ(ReplaceInvalidUtf8("a\xE2\x82z"), "a\xEF\xBF\xBDz");
  EXPECT_EQ(ReplaceInvalidUtf8("\xED\xA0\x80"), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(ReplaceInvalidUtf8("\xF0\x9F\x98"), "\xEF\xBF\xBD");
}

TEST(Utf8Test, ShorteningKeepsCodePointsWhole) {
  EXPECT_EQ(ShortenUtf8("short", 5), "short");
  EXPECT_EQ(ShortenUtf8("longer text", 8), "longe...");
  EXPECT_EQ(ShortenUtf8("abcd\xC3\xA9xyz", 8), "abcd...");
}

}  // namespace
}  // namespace tboost
