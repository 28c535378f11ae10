#include "src/text/stop_matcher.h"

#include <gtest/gtest.h>

namespace tboost {
namespace {

struct Outcome {
  std::string text, stop;
  bool operator==(const Outcome&) const = default;
};

// Pushes `text` cut at the set bits of `cuts`.
Outcome Feed(const std::vector<std::string>& stops, const std::string& text, uint32_t cuts) {
  StopMatcher matcher(stops);
  Outcome outcome;
  std::string piece;
  for (size_t i = 0; i < text.size(); ++i) {
    piece += text[i];
    if ((cuts >> i & 1) == 0 && i + 1 < text.size()) continue;
    outcome.text += matcher.Push(piece);
    piece.clear();
  }
  outcome.text += matcher.Flush();
  if (matcher.stopped()) outcome.stop = matcher.stop();
  return outcome;
}

TEST(StopMatcher, OutcomeDoesNotDependOnTheCuts) {
  const std::vector<std::string> stops = {"abc", "bcd", "cab", ""};
  const std::pair<std::string, Outcome> cases[] = {
      {"xxabab", {"xxabab", ""}},
      {"xabcx", {"x", "abc"}},
      {"xbcabc", {"xb", "cab"}},
      {"ababcdab", {"ab", "abc"}},
      {"bcbcd", {"bc", "bcd"}},
      {"", {"", ""}},
      {"aaaabbbbcccc", {"aaaabbbbcccc", ""}},
  };
  for (const auto& [text, want] : cases) {
    for (uint32_t cuts = 0; cuts < 1u << text.size(); ++cuts) {
      ASSERT_EQ(Feed(stops, text, cuts), want) << text << " " << cuts;
    }
  }
}

TEST(StopMatcher, OfStopsThatEndTogetherTheLongestCounts) {
  EXPECT_EQ(Feed({"c", "abc"}, "xabc", 0), (Outcome{"x", "abc"}));
}

TEST(StopMatcher, HoldsBackOnlyWhatCanBecomeAStop) {
  StopMatcher matcher({"</end>"});
  EXPECT_EQ(matcher.Push("text <"), "text ");
  EXPECT_EQ(matcher.Push("/e"), "");
  EXPECT_EQ(matcher.Push("x"), "</ex");
  EXPECT_EQ(matcher.Push("</end>tail"), "");
  EXPECT_TRUE(matcher.stopped());
  EXPECT_EQ(matcher.Push("more"), "");
  EXPECT_EQ(matcher.Flush(), "");
}

}  // namespace
}  // namespace tboost
