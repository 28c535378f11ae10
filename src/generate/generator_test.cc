#include <thread>
#include <tuple>

#include "src/formats/test_bytes.h"
#include "src/generate/model_state.h"
#include "tboost/generate.h"
#include "tests/model_testing.h"

namespace tboost {
namespace {

using namespace testing;

class GeneratorTest : public ::testing::Test {
 protected:
  void SetUp() override {
    WriteTinyModel("llama_tied", folder_.path(), "bytelevel");
    model_ = Must(Model::Load(*runtime_, folder_.path(), {.max_context = 64, .max_sequences = 2}));
  }
  Ids RandomPrompt(size_t size, uint64_t seed = 1) const {
    const HashRandom random(seed, "prompt");
    Ids ids(size);
    for (size_t i = 0; i < size; ++i) ids[i] = 3 + static_cast<int32_t>(random.Below(i, 500));
    return ids;
  }
  // All rows of logits that a generation gives, and what it gives.
  std::pair<Generation, std::vector<float>> Generate(Generator& generator, const Ids& prompt,
                                                     GenerateOptions options = {}) {
    std::vector<float> logits;
    options.ignore_eos = true;
    options.on_logits = [&](std::span<const float> row) {
      logits.insert(logits.end(), row.begin(), row.end());
      return OkStatus();
    };
    Generation out = Must(generator.Generate(prompt, options));
    return {std::move(out), std::move(logits)};
  }

  TemporaryFolder folder_;
  std::unique_ptr<Runtime> runtime_ = MakeRuntime();
  std::unique_ptr<Model> model_;
};

TEST_F(GeneratorTest, LoadOptionsAreChecked) {
  using enum StatusCode;
  const std::tuple<LoadOptions, StatusCode, std::string_view> cases[] = {
      {{.dtype = "q4_0"}, kInvalidArgument, "dtype \"q4_0\""},
      {{.max_context = -1}, kOutOfRange, "max-context is -1"},
      {{.max_context = 129}, kOutOfRange, "max-context is 129"},
      {{.kv_dtype = "f16"}, kInvalidArgument, "kv_dtype \"f16\", expected f32, bf16 or int8"},
      {{.max_sequences = 0}, kInvalidArgument, "max_sequences is 0"},
      {{.max_sequences = int64_t{1} << 60},
       kInvalidArgument,
       "max_sequences is 1152921504606846976"}};
  for (const auto& [options, code, message] : cases)
    EXPECT_THAT(Model::Load(*runtime_, folder_.path(), options), FailsWith(code, message));
}

TEST_F(GeneratorTest, AnswersAsLongAsAskedFor) {
  Generator generator(*model_);
  for (int64_t count : {0, 1, 5}) {
    const Generation out =
        Must(generator.Generate(RandomPrompt(4), {.max_tokens = count, .ignore_eos = true}));
    EXPECT_EQ(static_cast<int64_t>(out.ids.size()), count);
    EXPECT_EQ(out.finish_reason, FinishReason::kLength);
    EXPECT_EQ(out.prompt_tokens, 4);
  }
}

TEST_F(GeneratorTest, TheBestLogitsGiveTheSameTokensAsTheRow) {
  // A callback for the logits asks for whole rows.
  const SamplingOptions cases[] = {{},
                                   {.temperature = 0.8, .top_k = 1},
                                   {.temperature = 2, .top_k = 5, .seed = 3},
                                   {.temperature = 1, .top_k = 40, .top_p = 0.9, .seed = 4},
                                   {.temperature = 1.5, .top_k = 100, .min_p = 0.01, .seed = 5},
                                   {.temperature = 1.5, .top_k = 1000, .seed = 6},
                                   {.repetition_penalty = 1.3}};
  Generator ranking(*model_), rows(*model_);
  for (const SamplingOptions& sampling : cases) {
    const GenerateOptions options = {.max_tokens = 30, .sampling = sampling, .ignore_eos = true};
    EXPECT_EQ(Must(ranking.Generate(RandomPrompt(9), options)).ids,
              Generate(rows, RandomPrompt(9), options).first.ids)
        << "top_k " << sampling.top_k;
  }
}

TEST_F(GeneratorTest, KeysAndValuesInFewerBits) {
  const Ids prompt = RandomPrompt(40);
  Generator exact_generator(*model_);
  const std::vector<float> exact = Generate(exact_generator, prompt, {.max_tokens = 3}).second;
  const float largest = *std::ranges::max_element(exact);
  for (const auto& [name, divisor, tolerance] :
       {std::tuple("bf16", 2u, 0.02f), std::tuple("int8", 3u, 0.04f)}) {
    const auto model = Must(Model::Load(*runtime_, folder_.path(), {.kv_dtype = name}));
    EXPECT_LE(model->memory().kv_page, model_->memory().kv_page / divisor + 4096) << name;
    Generator generator(*model);
    const std::vector<float> logits = Generate(generator, prompt, {.max_tokens = 3}).second;
    ASSERT_GE(logits.size(), static_cast<size_t>(model->vocab_size()));
    for (int64_t i = 0; i < model->vocab_size(); ++i)
      ASSERT_NEAR(logits[i], exact[i], largest * tolerance) << name;
    EXPECT_NE(logits, exact) << name << " changes nothing";
  }
}

TEST_F(GeneratorTest, EndsWhereTheContextIsFull) {
  // 64 tokens may have keys and values; the last answer token needs none.
  for (const auto& [prompt, answer] : {std::pair(60, 5u), std::pair(63, 2u), std::pair(64, 1u)}) {
    Generator generator(*model_);
    const Generation out = Must(generator.Generate(
        RandomPrompt(prompt), {.max_tokens = int64_t{1} << 60, .ignore_eos = true}));
    EXPECT_EQ(out.ids.size(), answer) << prompt;
    EXPECT_EQ(out.finish_reason, FinishReason::kLength);
  }
  Generator generator(*model_);
  EXPECT_THAT(generator.Generate(RandomPrompt(65)),
              FailsWith(StatusCode::kOutOfRange, "65 tokens, the context holds 64"));
  EXPECT_EQ(model_->state().kv_pool->pages_in_use(), 0);
}

TEST_F(GeneratorTest, RefusesIdsOutsideTheVocabulary) {
  Generator generator(*model_);
  for (const Ids& ids : {Ids{-1}, Ids{5, static_cast<int32_t>(model_->vocab_size())}, Ids{}})
    EXPECT_EQ(generator.Generate(ids).status().code(), StatusCode::kOutOfRange);
  EXPECT_THAT(generator.Generate(Ids{5}, {.sampling = {.top_p = 2}}),
              FailsWith(StatusCode::kInvalidArgument, "top_p"));
}

TEST_F(GeneratorTest, AStopStringEndsTheText) {
  Generator generator(*model_);
  const Ids prompt = RandomPrompt(5);
  const Generation free = Must(generator.Generate(prompt, {.max_tokens = 24, .ignore_eos = true}));
  ASSERT_GT(free.text.size(), 12u);
  for (size_t at : {size_t{0}, size_t{3}, free.text.size() / 2}) {
    const std::string stop = free.text.substr(at, 3);
    std::string streamed;
    GenerateOptions options{.max_tokens = 24, .stop = {"never said at all", stop}};
    options.ignore_eos = true;
    options.on_text = [&](std::string_view text) {
      streamed += text;
      return true;
    };
    const Generation out = Must(generator.Generate(prompt, options));
    EXPECT_EQ(out.text, free.text.substr(0, free.text.find(stop)));
    EXPECT_EQ(streamed, out.text);
    EXPECT_EQ(out.finish_reason, FinishReason::kStop);
    EXPECT_LE(out.ids.size(), free.ids.size());
  }
}

TEST_F(GeneratorTest, StreamsExactlyTheText) {
  Generator generator(*model_);
  std::string streamed;
  GenerateOptions options{.max_tokens = 40, .sampling = {.temperature = 5, .seed = 9}};
  options.ignore_eos = true;
  options.on_text = [&](std::string_view text) {
    streamed += text;
    return true;
  };
  const Generation out = Must(generator.Generate("Hello", options));
  EXPECT_EQ(out.text, streamed);
  EXPECT_EQ(out.text, Must(model_->Detokenize(out.ids)));
  EXPECT_EQ(out.ids.size(), 40u);
}

TEST_F(GeneratorTest, AnEndTokenStopsUnlessIgnored) {
  Generator generator(*model_);
  const Ids prompt = RandomPrompt(6);
  const Ids free = Must(generator.Generate(prompt, {.max_tokens = 12, .ignore_eos = true})).ids;
  model_->state().om->manifest["settings"]["generation"]["eos_token_ids"] = Json::array({free[3]});
  const size_t first = std::find(free.begin(), free.end(), free[3]) - free.begin();
  const Generation out = Must(generator.Generate(prompt, {.max_tokens = 12}));
  EXPECT_EQ(out.ids, Ids(free.begin(), free.begin() + first));
  EXPECT_EQ(out.finish_reason, FinishReason::kStop);
}

TEST_F(GeneratorTest, TheReaderOfTextMayEndIt) {
  Generator generator(*model_);
  int pieces = 0;
  GenerateOptions options{.max_tokens = 50};
  options.ignore_eos = true;
  options.on_text = [&](std::string_view) { return ++pieces < 3; };
  const Generation out = Must(generator.Generate(RandomPrompt(4), options));
  EXPECT_EQ(out.finish_reason, FinishReason::kCancelled);
  EXPECT_EQ(pieces, 3);
  EXPECT_LT(out.ids.size(), 50u);
}

TEST_F(GeneratorTest, CancelledFromAnotherThread) {
  Generator generator(*model_);
  CancelToken cancel;
  std::atomic<int> tokens = 0;
  // Without end: a full context starts the next answer.
  std::thread other([&] {
    while (tokens < 5) std::this_thread::yield();
    cancel.Cancel();
  });
  Generation out;
  for (out.finish_reason = FinishReason::kLength; out.finish_reason == FinishReason::kLength;) {
    GenerateOptions options{.max_tokens = 1 << 30, .cancel = &cancel};
    options.ignore_eos = true;
    options.on_logits = [&](std::span<const float>) {
      ++tokens;
      return OkStatus();
    };
    out = Must(generator.Generate(RandomPrompt(3, tokens), options));
  }
  other.join();
  EXPECT_EQ(out.finish_reason, FinishReason::kCancelled);
  // The generator goes on as if nothing had happened.
  cancel.Reset();
  Generator fresh(*model_);
  EXPECT_EQ(Generate(generator, RandomPrompt(20), {.max_tokens = 8}).second,
            Generate(fresh, RandomPrompt(20), {.max_tokens = 8}).second);
}

TEST_F(GeneratorTest, AReusedBeginningGivesTheBitsOfAFreshOne) {
  Generator generator(*model_);
  Ids prompt = RandomPrompt(20);
  const auto [first, first_logits] = Generate(generator, prompt, {.max_tokens = 6});
  EXPECT_EQ(first.reused_tokens, 0);
  const auto [again, again_logits] = Generate(generator, prompt, {.max_tokens = 6});
  EXPECT_EQ(again.reused_tokens, 19) << "the last token runs for its logits";
  EXPECT_EQ(again_logits, first_logits);

  // The conversation goes on; then it parts early.
  prompt.insert(prompt.end(), first.ids.begin(), first.ids.end());
  prompt.push_back(77);
  for (int turn = 0; turn < 2; ++turn) {
    const auto [reused, reused_logits] = Generate(generator, prompt, {.max_tokens = 6});
    EXPECT_GE(reused.reused_tokens, turn == 0 ? 25 : 7);
    Generator fresh(*model_);
    EXPECT_EQ(Generate(fresh, prompt, {.max_tokens = 6}).second, reused_logits);
    prompt.resize(8);
    prompt.back() = 11;
    fresh.Reset();
  }
  generator.Reset();
  EXPECT_EQ(model_->state().kv_pool->pages_in_use(), 0);
}

TEST_F(GeneratorTest, ScoreGivesTheLogitsOfEveryToken) {
  const Ids ids = RandomPrompt(50);
  Generator generator(*model_);
  std::vector<float> all;
  int64_t next = 0;
  Must(generator.Score(ids, [&](int64_t first, int64_t rows, const float* logits) {
    EXPECT_EQ(first, next);
    next += rows;
    all.insert(all.end(), logits, logits + rows * model_->vocab_size());
    return OkStatus();
  }));
  ASSERT_EQ(next, 50);
  for (size_t length : {1, 33, 50}) {
    Generator fresh(*model_);
    const Ids beginning(ids.begin(), ids.begin() + length);
    const auto logits = Generate(fresh, beginning, {.max_tokens = 0}).second;
    ASSERT_EQ(static_cast<int64_t>(logits.size()), model_->vocab_size());
    EXPECT_TRUE(
        std::equal(logits.begin(), logits.end(), all.begin() + (length - 1) * model_->vocab_size()))
        << length;
  }
  EXPECT_THAT(generator.Score(ids, [](auto...) { return IoError("disk full"); }),
              FailsWith(StatusCode::kIo, "disk full"));
}

TEST_F(GeneratorTest, SequencesTogetherAsAlone) {
  const Ids prompts[] = {RandomPrompt(10, 1), RandomPrompt(30, 2)};
  Generator one(*model_);
  const auto alone = Generate(one, prompts[0], {.max_tokens = 10}).second;
  one.Reset();
  std::vector<float> logits[2];
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t)
    threads.emplace_back([&, t] {
      Generator generator(*model_);
      logits[t] = Generate(generator, prompts[t], {.max_tokens = 10}).second;
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(logits[0], alone);
  EXPECT_EQ(model_->state().kv_pool->pages_in_use(), 0);
}

TEST_F(GeneratorTest, AFullPoolIsAnError) {
  Generator first(*model_), second(*model_), third(*model_);
  Must(first.Generate(RandomPrompt(10), {.max_tokens = 1}));
  Must(second.Generate(RandomPrompt(10), {.max_tokens = 1}));
  EXPECT_THAT(third.Generate(RandomPrompt(10)),
              FailsWith(StatusCode::kResourceExhausted, "kv cache"));
  first.Reset();
  EXPECT_TRUE(third.Generate(RandomPrompt(10), {.max_tokens = 1}).ok());
}

}  // namespace
}  // namespace tboost
