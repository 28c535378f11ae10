#include "src/base/status.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>

namespace tboost {
namespace {

Result<std::unique_ptr<int>> Half(int n) {
  if (n % 2 != 0) return InvalidArgumentError("{} is odd", n);
  return std::make_unique<int>(n / 2);
}

Result<int> Quarter(int n) {
  TBOOST_ASSIGN_OR_RETURN(std::unique_ptr<int> half, Half(n));
  TBOOST_ASSIGN_OR_RETURN(const std::unique_ptr<int> quarter, Half(*half));
  return *quarter;
}

Status CheckQuarter(int n) {
  TBOOST_RETURN_IF_ERROR(Quarter(n).status());
  return OkStatus();
}

TEST(StatusTest, ErrorsTravelThroughTheMacros) {
  EXPECT_EQ(*Quarter(12), 3);
  EXPECT_EQ(Quarter(6).status().message(), "3 is odd");
  EXPECT_TRUE(CheckQuarter(12).ok());
  EXPECT_EQ(CheckQuarter(7).code(), StatusCode::kInvalidArgument);
}

TEST(StatusTest, ContextComesBeforeTheMessage) {
  EXPECT_TRUE(OkStatus().WithContext("file").ok());
  const Status status = CorruptError("no header").WithContext("file");
  EXPECT_EQ(status.message(), "file: no header");
  EXPECT_EQ(status.code(), StatusCode::kCorrupt);
}

TEST(StatusTest, WhatAFileAsksForIsItsFault) {
  EXPECT_TRUE(FaultOfFile(OkStatus(), "file").ok());
  for (const Status& status : {InvalidArgumentError("bad"), OutOfRangeError("bad")}) {
    EXPECT_EQ(FaultOfFile(status, "file").code(), StatusCode::kCorrupt);
    EXPECT_EQ(FaultOfFile(status, "file").message(), "file: bad");
  }
  EXPECT_EQ(FaultOfFile(UnsupportedError("new"), "file").code(), StatusCode::kUnsupported);
}

TEST(StatusTest, EveryCodeHasItsOwnName) {
  std::set<std::string_view> names;
  for (int code = 0; code <= static_cast<int>(StatusCode::kInternal); ++code)
    names.insert(StatusCodeName(static_cast<StatusCode>(code)));
  EXPECT_EQ(names.size(), static_cast<size_t>(StatusCode::kInternal) + 1);
  EXPECT_FALSE(names.contains("unknown"));
}

}  // namespace
}  // namespace tboost
