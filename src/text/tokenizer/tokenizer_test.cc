#include "src/text/tokenizer/tokenizer.h"

#include <gtest/gtest.h>

#include <random>

#include "src/base/utf8.h"
#include "src/text/detokenizer.h"
#include "src/text/tokenizer/test_models.h"

namespace tboost {
namespace {

Tokenizer Trained(const std::string& name) {
  auto blob = BuildTokenizerFromJson(GoldenJson("tokenizers_" + name + ".json"), Json());
  EXPECT_TRUE(blob.ok()) << blob.status().message();
  auto tokenizer = Tokenizer::Own(std::move(blob).value());
  EXPECT_TRUE(tokenizer.ok()) << tokenizer.status().message();
  return std::move(tokenizer).value();
}

// Bytes of which some are text, some ASCII, some anything.
std::string RandomBytes(std::mt19937* random) {
  static const std::string kParts[] = {"word ", "über", "中文", "😀", "  ", "\n", "<s>", "'s 12"};
  std::string out;
  const size_t parts = (*random)() % 12;
  for (size_t i = 0; i < parts; ++i) {
    const uint32_t kind = (*random)() % 3;
    if (kind == 0) out += kParts[(*random)() % std::size(kParts)];
    if (kind == 1) out += static_cast<char>((*random)() % 128);
    if (kind == 2) out += static_cast<char>((*random)() % 256);
  }
  return out;
}

// A GPT-2 style tokenizer made of the 256 bytes and two merges.
GgufVocabulary ByteVocabulary() {
  GgufVocabulary vocabulary;
  vocabulary.model = "gpt2";
  vocabulary.pre = "gpt-2";
  for (int byte = 0; byte < 256; ++byte) {
    const int c = (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte != 0xAD) ? byte : -1;
    static int next = 0x100;
    if (byte == 0) next = 0x100;
    std::string piece;
    AppendUtf8(static_cast<char32_t>(c >= 0 ? c : next++), piece);
    vocabulary.tokens.push_back(piece);
  }
  vocabulary.tokens.insert(vocabulary.tokens.end(), {"ab", "abc", "<|end|>", "<user>"});
  vocabulary.merges = {"a b", "ab c"};
  vocabulary.types.assign(256 + 2, kGgufNormal);
  vocabulary.types.insert(vocabulary.types.end(), {kGgufControl, kGgufUserDefined});
  return vocabulary;
}

Tokenizer FromGguf(const GgufVocabulary& vocabulary) {
  auto blob = BuildTokenizerFromGguf(vocabulary);
  EXPECT_TRUE(blob.ok()) << blob.status().message();
  return std::move(Tokenizer::Own(std::move(blob).value())).value();
}

TEST(Tokenizer, DecodingGivesTheBytesBack) {
  const Tokenizer tokenizer = FromGguf(ByteVocabulary());
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) {
    const std::string text = RandomBytes(&random);
    const auto ids = tokenizer.Encode(text);
    ASSERT_TRUE(ids.ok()) << ids.status().message();
    const auto back = tokenizer.Decode(*ids, false);
    ASSERT_TRUE(back.ok());
    ASSERT_EQ(*back, text);
  }
}

TEST(Tokenizer, StreamingGivesWholeCodePointsAndTheSameText) {
  std::mt19937 random(2);
  for (const char* name : {"bytelevel", "metaspace", "wordpiece", "suffix", "unigram"}) {
    const Tokenizer tokenizer = Trained(name);
    Detokenizer detokenizer(tokenizer, false);
    for (int i = 0; i < 300; ++i) {
      std::vector<int32_t> ids(random() % 20);
      for (int32_t& id : ids) id = static_cast<int32_t>(random() % tokenizer.vocabulary_size());
      std::string streamed;
      for (const int32_t id : ids) {
        const auto text = detokenizer.Push(id);
        ASSERT_TRUE(text.ok());
        streamed += *text;
        ASSERT_FALSE(
            DecodeUtf8(streamed.substr(streamed.find_last_not_of("\x80\xBF") + 1)).truncated);
      }
      streamed += detokenizer.Flush();
      const auto whole = tokenizer.Decode(ids, false);
      ASSERT_TRUE(whole.ok());
      ASSERT_EQ(streamed, *whole) << name;
    }
  }
}

TEST(Tokenizer, EmojiIsHeldBackUntilWhole) {
  const Tokenizer tokenizer = FromGguf(ByteVocabulary());
  Detokenizer detokenizer(tokenizer);
  const std::string emoji = "😀";
  const auto ids = tokenizer.Encode(emoji);
  ASSERT_EQ(ids->size(), 4u);
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(*detokenizer.Push((*ids)[i]), "");
  EXPECT_EQ(*detokenizer.Push((*ids)[3]), emoji);
  EXPECT_EQ(*detokenizer.Push((*ids)[0]), "");
  EXPECT_EQ(detokenizer.Flush(), emoji.substr(0, 1));
}

TEST(Tokenizer, SpecialTokensOnlyWhereAsked) {
  const Tokenizer tokenizer = FromGguf(ByteVocabulary());
  const int32_t end = *tokenizer.Find("<|end|>"), user = *tokenizer.Find("<user>");
  EXPECT_EQ(*tokenizer.Encode("abc<|end|><user>"), (std::vector<int32_t>{257, end, user}));
  const auto plain = tokenizer.Encode("<|end|><user>", {.parse_special = false, .max_length = {}});
  EXPECT_EQ(plain->size(), 7u + 1u);
  EXPECT_EQ(plain->back(), user);
  EXPECT_TRUE(tokenizer.IsSpecial(end));
  EXPECT_FALSE(tokenizer.IsSpecial(user));
  EXPECT_EQ(*tokenizer.Decode(std::vector<int32_t>{257, end, user}), "abc<user>");
  EXPECT_EQ(tokenizer.special().end, (std::vector<int32_t>{end}));
}

TEST(Tokenizer, LengthLimit) {
  const Tokenizer tokenizer = Trained("wordpiece");
  const std::string text = "word word word word word";
  const auto all = tokenizer.Encode(text);
  ASSERT_EQ(all->size(), 7u);
  EXPECT_EQ(tokenizer.Encode(text, {.max_length = 4})->size(), 4u);
  EXPECT_EQ(tokenizer.Encode(text, {.max_length = 4})->back(), all->back());
  EXPECT_EQ(tokenizer.Encode(text, {.add_special_tokens = false, .max_length = 4})->size(), 4u);
  EXPECT_FALSE(tokenizer.Encode(text, {.max_length = 1}).ok());
}

// Quadratic time would show as minutes here.
TEST(Tokenizer, LongWords) {
  constexpr size_t kSize = 1 << 17;
  std::mt19937 random(3);
  std::string mixed;
  for (size_t i = 0; i < kSize; ++i) mixed += static_cast<char>('a' + random() % 3);
  for (const char* name : {"bytelevel", "metaspace", "unigram", "wordpiece"}) {
    const Tokenizer tokenizer = Trained(name);
    const EncodeOptions plain{.add_special_tokens = false, .max_length = {}};
    for (const std::string& text : {std::string(kSize, 'a'), std::string(kSize, ' '), mixed}) {
      const auto ids = tokenizer.Encode(text, plain);
      ASSERT_TRUE(ids.ok()) << name << ": " << ids.status().message();
      ASSERT_LE(ids->size(), kSize + 1);
    }
  }
}

TEST(Tokenizer, IdsOutsideTheVocabularyAreErrors) {
  const Tokenizer tokenizer = FromGguf(ByteVocabulary());
  for (const int32_t id : {-1, static_cast<int32_t>(tokenizer.vocabulary_size()), INT32_MAX}) {
    EXPECT_EQ(tokenizer.Decode(std::vector<int32_t>{id}).status().code(), StatusCode::kOutOfRange);
    EXPECT_EQ(Detokenizer(tokenizer).Push(id).status().code(), StatusCode::kOutOfRange);
    EXPECT_EQ(tokenizer.Piece(id), "");
  }
}

TEST(Tokenizer, SaysWhatItLacks) {
  const Json good = GoldenJson("tokenizers_wordpiece.json");
  for (const char* part : {"normalizer", "pre_tokenizer", "model", "post_processor", "decoder"}) {
    Json bad = good;
    bad[part]["type"] = "Precompiled";
    const auto blob = BuildTokenizerFromJson(bad, Json());
    EXPECT_EQ(blob.status().code(), StatusCode::kUnsupported);
    EXPECT_NE(blob.status().message().find("Precompiled"), std::string::npos)
        << blob.status().message();
    bad[part] = 7;
    EXPECT_FALSE(BuildTokenizerFromJson(bad, Json()).ok()) << part;
  }
  GgufVocabulary vocabulary = ByteVocabulary();
  vocabulary.pre = "unheard-of";
  EXPECT_EQ(BuildTokenizerFromGguf(vocabulary).status().code(), StatusCode::kUnsupported);
  vocabulary = ByteVocabulary();
  vocabulary.merges.push_back("a zzz");
  EXPECT_EQ(BuildTokenizerFromGguf(vocabulary).status().code(), StatusCode::kCorrupt);
  vocabulary = ByteVocabulary();
  vocabulary.eos = 1000;
  EXPECT_EQ(BuildTokenizerFromGguf(vocabulary).status().code(), StatusCode::kCorrupt);
}

TEST(Tokenizer, SpecialIdsFromTheConfig) {
  const Json config = {
      {"bos_token", "[CLS]"}, {"eos_token", {{"content", "[SEP]"}}}, {"pad_token", nullptr}};
  const auto blob = BuildTokenizerFromJson(GoldenJson("tokenizers_wordpiece.json"), config);
  ASSERT_TRUE(blob.ok());
  const auto tokenizer = Tokenizer::Open(*blob);
  EXPECT_EQ(tokenizer->special().bos, 2);
  EXPECT_EQ(tokenizer->special().eos, 3);
  EXPECT_EQ(tokenizer->special().pad, -1);
  EXPECT_EQ(tokenizer->special().end, (std::vector<int32_t>{3}));
}

TEST(Tokenizer, EveryDamagedBlobIsSafe) {
  const auto blob = BuildTokenizerFromJson(GoldenJson("tokenizers_metaspace.json"), Json());
  ASSERT_TRUE(blob.ok());
  std::mt19937 random(4);
  for (int i = 0; i < 2000; ++i) {
    std::string bad = *blob;
    const bool header = i % 2 == 0;
    for (int k = 0; k < 4; ++k)
      bad[random() % (header ? 256 : bad.size())] = static_cast<char>(random());
    if (i % 5 == 0) bad.resize(random() % bad.size());
    const auto tokenizer = Tokenizer::Open(bad);
    if (!tokenizer.ok()) continue;
    (void)tokenizer->Encode("the word <mask> über 12 😀\xFF");
    const std::vector<int32_t> ids = {0, 1, 300, 500, 700};
    (void)tokenizer->Decode(ids);
  }
}

}  // namespace
}  // namespace tboost
