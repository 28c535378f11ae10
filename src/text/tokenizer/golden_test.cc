// Ids equal to those of public tokenizers (tests/golden/make_text_goldens.py).
#include <gtest/gtest.h>

#include "src/base/file.h"
#include "src/base/json.h"
#include "src/base/utf8.h"
#include "src/text/tokenizer/test_models.h"
#include "src/text/tokenizer/tokenizer.h"
#include "src/text/tokenizer/tokenizer_builder.h"
#include "tests/real_model.h"

namespace tboost {
namespace {

std::string Unhex(const std::string& hex) {
  std::string out;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    out += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  }
  return out;
}

std::string Show(const Tokenizer& tokenizer, const std::vector<int32_t>& ids) {
  std::string out;
  for (const int32_t id : ids) out += fmt::format("{}:{} ", id, tokenizer.Piece(id));
  return out;
}

void CompareWithGolden(const std::string& name, const Tokenizer& tokenizer,
                       bool parse_special = true) {
  const Json corpus = GoldenJson("text_corpus.json");
  const Json cases = GoldenJson("text_ids_" + name + ".json")["cases"];
  ASSERT_EQ(corpus.size(), cases.size());
  size_t compared = 0;
  for (size_t i = 0; i < corpus.size(); ++i) {
    if (cases[i].is_null()) continue;
    const std::string text = Unhex(corpus[i]);
    SCOPED_TRACE(fmt::format("text {}: {}", i, corpus[i].get<std::string>() + " " + text));
    for (const bool special : {false, true}) {
      const auto want = cases[i][special ? 1 : 0].get<std::vector<int32_t>>();
      const auto got = tokenizer.Encode(
          text, {.add_special_tokens = special, .parse_special = parse_special, .max_length = 0});
      ASSERT_TRUE(got.ok()) << got.status().message();
      EXPECT_EQ(*got, want) << "got  " << Show(tokenizer, *got) << "\nwant "
                            << Show(tokenizer, want);
    }
    ++compared;
    if (!cases[i][2].is_string()) continue;
    const std::string want = Unhex(cases[i][2]);
    const auto got = tokenizer.Decode(cases[i][0].get<std::vector<int32_t>>(), false);
    ASSERT_TRUE(got.ok()) << got.status().message();
    EXPECT_EQ(ReplaceInvalidUtf8(*got), want);
  }
  EXPECT_GT(compared, 150u);
}

class TrainedTokenizer : public ::testing::TestWithParam<const char*> {};

TEST_P(TrainedTokenizer, MatchesTheWheel) {
  const auto blob =
      BuildTokenizerFromJson(GoldenJson(std::string("tokenizers_") + GetParam() + ".json"), Json());
  ASSERT_TRUE(blob.ok()) << blob.status().message();
  const auto tokenizer = Tokenizer::Open(*blob);
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status().message();
  CompareWithGolden(GetParam(), *tokenizer);
}

INSTANTIATE_TEST_SUITE_P(All, TrainedTokenizer,
                         ::testing::Values("wordpiece", "wordpiece_whitespace", "bytelevel",
                                           "roberta", "metaspace", "suffix", "unigram"),
                         [](const auto& info) { return std::string(info.param); });

TEST(RealTokenizer, MiniLm) {
  TBOOST_REQUIRE_MODEL("all-MiniLM-L6-v2");
  const std::string path = testing::RealModel("all-MiniLM-L6-v2") + "/tokenizer.json";
  const auto file = ReadFile(path);
  ASSERT_TRUE(file.ok());
  const auto json = ParseJson(*file, path);
  ASSERT_TRUE(json.ok()) << json.status().message();
  const auto blob = BuildTokenizerFromJson(*json, Json());
  ASSERT_TRUE(blob.ok()) << blob.status().message();
  const auto tokenizer = Tokenizer::Open(*blob);
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status().message();
  CompareWithGolden("minilm", *tokenizer);
  const auto truncated = tokenizer->Encode(std::string(1000, '.'));  // the file says 128
  ASSERT_TRUE(truncated.ok());
  EXPECT_EQ(truncated->size(), 128u);
}

struct GgufCase {
  const char *file, *golden;
  bool parse_special;
};

class GgufTokenizer : public ::testing::TestWithParam<GgufCase> {};

TEST_P(GgufTokenizer, MatchesTheOracle) {
  TBOOST_REQUIRE_MODEL(GetParam().file);
  const auto blob = BuildFromGgufFile(testing::RealModel(GetParam().file));
  ASSERT_TRUE(blob.ok()) << blob.status().message();
  const auto tokenizer = Tokenizer::Open(*blob);
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status().message();
  CompareWithGolden(GetParam().golden, *tokenizer, GetParam().parse_special);
}

INSTANTIATE_TEST_SUITE_P(All, GgufTokenizer,
                         ::testing::Values(GgufCase{"SmolLM2-135M-Instruct.Q4_1.gguf", "smollm2",
                                                    true},
                                           GgufCase{"gemma-3-270m-q4_k_m.gguf", "gemma3", false}),
                         [](const auto& info) { return std::string(info.param.golden); });

}  // namespace
}  // namespace tboost
