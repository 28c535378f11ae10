#include "src/graph/dim.h"

#include <gtest/gtest.h>

#include <limits>

namespace tboost {
namespace {

const Dim kTokens = Dim::Symbol("tokens");
const Dim kSequences = Dim::Symbol("sequences");

TEST(Dim, Arithmetic) {
  EXPECT_EQ(Dim(2) + Dim(3), Dim(5));
  EXPECT_EQ(kTokens + Dim(0), kTokens);
  EXPECT_EQ(kTokens + kTokens, Dim(2) * kTokens);
  EXPECT_EQ(kTokens * kSequences, kSequences * kTokens);
  EXPECT_EQ(kTokens + Dim(-1) * kTokens, Dim(0));
  EXPECT_EQ((kTokens + Dim(1)) * (kTokens + Dim(-1)), kTokens * kTokens + Dim(-1));
  EXPECT_EQ(Dim(0) * kTokens, Dim());
  EXPECT_NE(kTokens, kSequences);
}

TEST(Dim, Constant) {
  EXPECT_EQ(Dim().constant(), 0);
  EXPECT_EQ(Dim(7).constant(), 7);
  EXPECT_EQ(kTokens.constant(), std::nullopt);
  EXPECT_EQ((kTokens + Dim(7)).constant(), std::nullopt);
}

TEST(Dim, TextReadsBack) {
  const std::pair<Dim, std::string> cases[] = {
      {Dim(), "0"},
      {Dim(-12), "-12"},
      {kTokens, "tokens"},
      {Dim(-1) * kTokens, "-tokens"},
      {Dim(2) * kTokens + Dim(1), "2*tokens+1"},
      {kTokens * kTokens + Dim(-3) * kSequences + Dim(-4), "-3*sequences+tokens*tokens-4"},
  };
  for (const auto& [dim, text] : cases) {
    EXPECT_EQ(dim.ToString(), text);
    const auto parsed = Dim::Parse(text);
    ASSERT_TRUE(parsed.ok()) << parsed.status().message();
    EXPECT_EQ(*parsed, dim);
  }
}

TEST(Dim, BadText) {
  for (const char* text : {"", "+", "-", "tokens*", "2**3", "a b", "3x", "--3", "1+", "+1",
                           "99999999999999999999", "a+-1"})
    EXPECT_FALSE(Dim::Parse(text).ok()) << text;
  EXPECT_FALSE(Dim::Parse(std::string(300, 'a')).ok());
}

TEST(Dim, Evaluate) {
  const SymbolValues symbols = {{"tokens", 10}, {"sequences", 3}};
  EXPECT_EQ(*(Dim(2) * kTokens * kSequences + Dim(-1)).Evaluate(symbols), 59);
  EXPECT_EQ(*Dim().Evaluate({}), 0);
  const auto missing = kTokens.Evaluate({});
  EXPECT_EQ(missing.status().code(), StatusCode::kInvalidArgument);
  EXPECT_NE(missing.status().message().find("tokens"), std::string::npos);
}

TEST(Dim, OverflowIsReported) {
  const int64_t huge = std::numeric_limits<int64_t>::max();
  EXPECT_FALSE((Dim(huge - 1) * Dim(huge - 1)).Evaluate({}).ok());
  EXPECT_FALSE((Dim(huge - 1) + Dim(huge - 1)).Evaluate({}).ok());
  EXPECT_FALSE(Dim(std::numeric_limits<int64_t>::min()).Evaluate({}).ok());
  EXPECT_FALSE((kTokens * kTokens).Evaluate({{"tokens", int64_t{1} << 33}}).ok());
  EXPECT_EQ(*Dim(huge - 1).Evaluate({}), huge - 1);
}

}  // namespace
}  // namespace tboost
