#include "src/base/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

namespace tboost {
namespace {

using testing::HasSubstr;

TEST(ConfigTest, Bytes) {
  EXPECT_EQ(*ParseBytes("4096"), 4096u);
  EXPECT_EQ(*ParseBytes("1GB"), 1000000000u);
  EXPECT_EQ(*ParseBytes("1GiB"), 1073741824u);
  EXPECT_EQ(*ParseBytes(" 1.5 kib "), 1536u);
  EXPECT_EQ(*ParseBytes("2mb"), 2000000u);
  EXPECT_EQ(*ParseBytes("0"), 0u);
  for (const char* bad : {"", "GB", "-1GB", "-0", "1GBx", "1 G", "1e400", "nan", "inf", "9e30",
                          "9223372036854775808", "1GB/s", "0x10"}) {
    const Result<uint64_t> bytes = ParseBytes(bad);
    ASSERT_FALSE(bytes.ok()) << bad;
    EXPECT_THAT(bytes.status().message(), HasSubstr(bad));
    EXPECT_THAT(bytes.status().message(), HasSubstr("GiB"));
  }
}

TEST(ConfigTest, BandwidthAndDuration) {
  EXPECT_DOUBLE_EQ(*ParseBandwidth("900GB/s"), 900e9);
  EXPECT_DOUBLE_EQ(*ParseBandwidth("2 GiB/s"), 2147483648.0);
  for (const char* bad : {"900", "900GB", "/s", "GB/s"}) EXPECT_FALSE(ParseBandwidth(bad).ok());
  EXPECT_DOUBLE_EQ(*ParseDuration("50ms"), 0.05);
  EXPECT_DOUBLE_EQ(*ParseDuration("1.5 h"), 5400);
  for (const char* bad : {"5", "ms", "5 weeks"}) EXPECT_FALSE(ParseDuration(bad).ok());
}

TEST(ConfigTest, ReadsAFileWithComments) {
  const std::string path = testing::TempDir() + "/config_test.json";
  std::ofstream(path) << R"({
    // the machine
    "memory": "2GiB", "cache": 4096, "bandwidth": "900GB/s",  /* measured */
    "patience": "2s", "wrong": "lots", "negative": -1, "none": null
  })";
  const Result<Json> config = ReadConfig(path);
  ASSERT_TRUE(config.ok()) << config.status().message();
  EXPECT_EQ(*ConfigBytes(*config, "memory", 1, path), uint64_t{2} << 30);
  EXPECT_EQ(*ConfigBytes(*config, "cache", 1, path), 4096u);
  EXPECT_EQ(*ConfigBytes(*config, "absent", 7, path), 7u);
  EXPECT_EQ(*ConfigBytes(*config, "none", 7, path), 7u);
  EXPECT_DOUBLE_EQ(*ConfigBandwidth(*config, "bandwidth", 1, path), 900e9);
  EXPECT_DOUBLE_EQ(*ConfigDuration(*config, "patience", 1, path), 2);
  EXPECT_FALSE(ConfigBytes(*config, "negative", 1, path).ok());
  EXPECT_FALSE(ConfigDuration(*config, "cache", 1, path).ok());
  const Status wrong = ConfigBytes(*config, "wrong", 1, path).status();
  EXPECT_THAT(wrong.message(), HasSubstr(path));
  EXPECT_THAT(wrong.message(), HasSubstr("\"wrong\": not a size: \"lots\""));
}

}  // namespace
}  // namespace tboost
