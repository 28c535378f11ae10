// Real language models against their goldens: logits, greedy answers, perplexity, and equal bits
// however a prompt is cut.
#include "src/generate/model_state.h"
#include "tboost/generate.h"
#include "tests/model_testing.h"
#include "tests/perplexity.h"

namespace tboost {
namespace {

using namespace testing;

struct CausalModel {
  std::string_view name, file;
  size_t
      cut_tokens;  // of the prompt that is cut in pieces; more than the window where there is one
};
void PrintTo(const CausalModel& model, std::ostream* out) { *out << model.name; }

class Causal : public ::testing::TestWithParam<CausalModel> {
 protected:
  void SetUp() override {
    TBOOST_REQUIRE_MODEL(GetParam().file);
    golden_ = GoldenJson(fmt::format("{}.json", GetParam().name));
    model_ = Must(Model::Load(*runtime_, RealModel(GetParam().file), {.max_context = 1024}));
  }

  // The logits of the last of `ids`, which are run in steps of these sizes (the last one repeats).
  std::vector<float> Logits(const Ids& ids, std::vector<size_t> sizes) {
    Model::State& state = model_->state();
    KvSequence kv;
    std::vector<float> logits;
    for (size_t done = 0, step = 0; done < ids.size(); ++step) {
      const size_t size = std::min(sizes[std::min(step, sizes.size() - 1)], ids.size() - done);
      const std::span<const int32_t> part = std::span(ids).subspan(done, size);
      Must(state.kv_pool->Reserve(kv, static_cast<int64_t>(size)));
      const SequenceStep sequence{part, &kv};
      const int32_t row = static_cast<int32_t>(size) - 1;
      Must(state.executor->Run({.sequences = {&sequence, 1}, .output_rows = {&row, 1}},
                               [&](const Executor::Outputs& outputs) {
                                 logits = TestModel::Copy(outputs.Get("logits")).values;
                                 return OkStatus();
                               }));
      done += size;
    }
    EXPECT_EQ(kv.length, static_cast<int64_t>(ids.size()));
    state.kv_pool->Truncate(kv, 0);
    return logits;
  }

  std::unique_ptr<Runtime> runtime_ = MakeRuntime();
  std::unique_ptr<Model> model_;
  Json golden_;
};

TEST_P(Causal, PromptsGiveTheGoldenLogitsAndAnswers) {
  const Ids positions = [&] {
    const NpyArray array =
        Must(ReadNpy(GoldenPath(fmt::format("{}_positions.npy", GetParam().name))));
    Ids out(array.shape.elements());
    std::memcpy(out.data(), array.data.data(), out.size() * sizeof(int32_t));
    return out;
  }();
  const Floats expected = GoldenFloats(fmt::format("{}_logits.npy", GetParam().name));
  Generator generator(*model_);
  size_t prompt_index = 0;
  for (const Json& prompt : golden_.at("prompts")) {
    SCOPED_TRACE(fmt::format("prompt {}", prompt_index));
    const Ids ids = prompt.at("ids").get<Ids>();
    EXPECT_EQ(Must(model_->Tokenize(prompt.at("text").get<std::string>())), ids);
    std::vector<float> first;
    GenerateOptions options;
    options.max_tokens = 32;
    options.ignore_eos = true;
    options.on_logits = [&](std::span<const float> logits) {
      if (first.empty()) first.assign(logits.begin(), logits.end());
      return OkStatus();
    };
    const Generation answer = Must(generator.Generate(ids, options));

    std::vector<float> at;
    for (int32_t id : positions) at.push_back(first[id]);
    EXPECT_LE(LargestDifference(at, expected.row(prompt_index)), 1e-3);
    at.clear();
    for (int32_t id : prompt.at("top_ids").get<Ids>()) at.push_back(first[id]);
    EXPECT_LE(LargestDifference(at, prompt.at("top_logits").get<std::vector<float>>()), 1e-3);

    const Ids continuation = prompt.at("continuation").get<Ids>();
    const auto margins = prompt.at("margins").get<std::vector<double>>();
    ASSERT_EQ(answer.ids.size(), continuation.size());
    for (size_t i = 0; i < continuation.size() && margins[i] >= 2e-3; ++i)
      ASSERT_EQ(answer.ids[i], continuation[i]) << "token " << i;
    ++prompt_index;
  }
  EXPECT_EQ(prompt_index, 8u);
}

TEST_P(Causal, PerplexityIsTheGoldens) {
  const Ids ids = golden_.at("text_ids").get<Ids>();
  const std::string text = Must(ReadFile(GoldenPath("perplexity.txt")));
  EXPECT_EQ(Must(model_->Tokenize(text)), ids);
  const double expected = golden_.at("perplexity").at("perplexity");
  EXPECT_NEAR(Perplexity(*model_, ids, ids.size()) / expected, 1, 1e-3);
}

TEST_P(Causal, EqualBitsHoweverAPromptIsCut) {
  Ids ids = golden_.at("text_ids").get<Ids>();
  ids.resize(GetParam().cut_tokens);
  const std::vector<float> whole = Logits(ids, {ids.size()});
  EXPECT_EQ(Logits(ids, {1, 17, 64, 63, 65, 100}), whole) << "chunks";
  // The last stretch token by token; the whole way of the shorter prompt.
  EXPECT_EQ(Logits(ids, {ids.size() - 40, 1}), whole) << "token by token at the end";
  ids.resize(100);
  EXPECT_EQ(Logits(ids, {1}), Logits(ids, {100})) << "token by token";
}

INSTANTIATE_TEST_SUITE_P(All, Causal,
                         ::testing::Values(CausalModel{"smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf",
                                                       300},
                                           CausalModel{"gemma3", "gemma-3-270m-q4_k_m.gguf", 560}),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace tboost
