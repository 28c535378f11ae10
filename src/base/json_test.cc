#include "src/base/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tboost {
namespace {

using testing::HasSubstr;

std::string ParseError(std::string_view text, const JsonLimits& limits = {}) {
  const Result<Json> json = ParseJson(text, "file.json", limits);
  if (json.ok()) return "";
  EXPECT_TRUE(json.status().message().starts_with("file.json: ")) << json.status().message();
  return json.status().message();
}

TEST(JsonTest, BuildsWhatTheLibraryBuilds) {
  for (const char* text :
       {"null", "[]", "{}", "3", "-7", "18446744073709551615", "1.5e3", "\"\\ud83d\\ude00\"",
        R"({"a":[1,[2,{"b":null}],"x"],"c":{"d":{},"e":[true,false]},"f":0.1})"}) {
    const Result<Json> json = ParseJson(text, "x");
    ASSERT_TRUE(json.ok()) << json.status().message();
    EXPECT_EQ(*json, Json::parse(text));
  }
}

TEST(JsonTest, ErrorsHaveAPosition) {
  EXPECT_THAT(ParseError("{\n  \"a\": ]"), HasSubstr("line 2, column 8"));
  for (const char* text : {"", "{", "[1,]", "nul", "1 2", "\"a", "{\"a\" 1}", "1e999", "// x\n1",
                           "[\"\x01\"]", "'a'", "NaN"})
    EXPECT_NE(ParseError(text), "") << text;
}

TEST(JsonTest, InvalidUtf8IsRefusedWithACleanMessage) {
  for (const char* text :
       {"\"\xFF\"", "\"\xC0\x80\"", "\"\xED\xA0\x80\"", "\"\xE2\x82\"", "\xFF"}) {
    const std::string error = ParseError(text);
    EXPECT_NE(error, "");
    EXPECT_NO_THROW(Json(error).dump());  // throws where a string is not UTF-8
  }
}

TEST(JsonTest, DepthIsLimited) {
  const auto nested = [](int depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_EQ(ParseError(nested(64)), "");
  EXPECT_EQ(ParseError(nested(65)), "file.json: nested deeper than 64 levels");
  EXPECT_NE(ParseError(std::string(1000000, '[')), "");
}

TEST(JsonTest, DuplicateKeys) {
  EXPECT_EQ(ParseError(R"({"a":1,"b":{"a":2},"a":3})"),
            "file.json: the key \"a\" appears twice in one object");
  JsonLimits lenient;
  lenient.allow_duplicate_keys = true;
  EXPECT_EQ(*ParseJson(R"({"a":1,"a":3})", "x", lenient), Json({{"a", 3}}));
}

TEST(JsonTest, CommentsAndSizeAreLimits) {
  JsonLimits limits;
  limits.allow_comments = true;
  limits.max_bytes = 20;
  EXPECT_EQ(ParseError("[1, // x\n 2 /* y */]", limits), "");
  EXPECT_EQ(ParseError("[1, // x\n 2 /* y */] ", limits),
            "file.json: 21 bytes of JSON, the limit is 20");
}

TEST(JsonTest, GetsTypedMembers) {
  const Json json = Json::parse(
      R"({"b":true,"i":-5,"big":18446744073709551615,"d":1.5,"whole":512.0,"s":"x","n":null})");
  EXPECT_EQ(*JsonGet<bool>(json, "b", false, "f"), true);
  EXPECT_EQ(*JsonGet<int64_t>(json, "i", 0, "f"), -5);
  EXPECT_EQ(*JsonGet<int64_t>(json, "whole", 0, "f"), 512);
  EXPECT_EQ(*JsonGet<double>(json, "i", 0, "f"), -5.0);
  EXPECT_EQ(*JsonGet<double>(json, "d", 0, "f"), 1.5);
  EXPECT_EQ(*JsonGet<std::string>(json, "s", "", "f"), "x");
  EXPECT_EQ(*JsonGet<int64_t>(json, "absent", 9, "f"), 9);
  EXPECT_EQ(*JsonGet<int64_t>(json, "n", 9, "f"), 9);
  EXPECT_EQ(*JsonRequire<int64_t>(json, "i", "f"), -5);
}

TEST(JsonTest, WrongMembersAreErrors) {
  const Json json =
      Json::parse(R"({"big":18446744073709551615,"d":1.5,"huge":1e300,"s":"x","n":null,"a":[1]})");
  EXPECT_EQ(JsonGet<int64_t>(json, "d", 0, "f").status().message(),
            "f: \"d\" must be an integer, got 1.5");
  EXPECT_EQ(JsonGet<bool>(json, "s", false, "f").status().message(),
            "f: \"s\" must be true or false, got \"x\"");
  EXPECT_EQ(JsonGet<std::string>(json, "a", "", "f").status().message(),
            "f: \"a\" must be a string, got array");
  EXPECT_FALSE(JsonGet<int64_t>(json, "big", 0, "f").ok());
  EXPECT_FALSE(JsonGet<int64_t>(json, "huge", 0, "f").ok());
  EXPECT_FALSE(JsonGet<double>(json, "s", 0, "f").ok());
  EXPECT_EQ(JsonRequire<bool>(json, "none", "f").status().message(), "f: \"none\" is missing");
  EXPECT_FALSE(JsonRequire<bool>(json, "n", "f").ok());
  EXPECT_EQ(JsonGet<bool>(Json::array(), "k", true, "f").status().message(),
            "f: expected an object with \"k\", got array");
}

}  // namespace
}  // namespace tboost
