// all-MiniLM-L6-v2 against the golden of its own implementation.
#include "tboost/embed.h"

#include <fstream>

#include "src/formats/test_bytes.h"
#include "tboost/model.h"
#include "tests/model_testing.h"

namespace tboost {
namespace {

using namespace testing;

constexpr double kTolerance = 2e-5;
constexpr char kName[] = "all-MiniLM-L6-v2";

std::vector<std::string> Sentences() {
  std::vector<std::string> out;
  std::ifstream file(GoldenPath("minilm_sentences.txt"), std::ios::binary);
  for (std::string line; std::getline(file, line);) out.push_back(line);
  return out;
}

std::vector<std::vector<float>> Vectors(const Model& model, std::span<const std::string> texts,
                                        const EmbedOptions& options = {}) {
  std::vector<std::vector<float>> out;
  for (Embedding& embedding : Must(Embed(model, texts, options)))
    out.push_back(std::move(embedding.values));
  return out;
}

TEST(MiniLm, EmbeddingsAndIdsAreTheGolden) {
  TBOOST_REQUIRE_MODEL(kName);
  const auto runtime = MakeRuntime();
  const auto model = Must(Model::Load(*runtime, RealModel(kName)));
  const std::vector<std::string> sentences = Sentences();
  const Json golden = GoldenJson("minilm.json");
  const Floats expected = GoldenFloats("minilm_embeddings.npy");
  ASSERT_EQ(sentences.size(), 50u);
  ASSERT_EQ(expected.rows(), 50);
  const std::vector<Embedding> embeddings = Must(Embed(*model, sentences));
  for (size_t i = 0; i < sentences.size(); ++i) {
    Ids ids = golden.at("ids").at(i).get<Ids>();
    EXPECT_EQ(embeddings[i].tokens, static_cast<int64_t>(ids.size())) << i;
    EXPECT_LE(LargestDifference(embeddings[i].values, expected.row(i)), kTolerance) << i;
    Ids own = Must(model->Tokenize(sentences[i]));
    if (own.size() > ids.size()) own.erase(own.begin() + ids.size() - 1, own.end() - 1);
    EXPECT_EQ(own, ids) << i;
  }
}

TEST(MiniLm, AtItsFullLength) {
  TBOOST_REQUIRE_MODEL(kName);
  const auto runtime = MakeRuntime();
  const auto model = Must(Model::Load(*runtime, RealModel(kName)));
  const std::vector<std::string> sentences = Sentences();
  const Json golden = GoldenJson("minilm.json");
  const Floats expected = GoldenFloats("minilm_embeddings_512.npy");
  const auto rows = golden.at("rows_512").get<std::vector<size_t>>();
  ASSERT_EQ(expected.rows(), static_cast<int64_t>(rows.size()));
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto embeddings = Vectors(*model, {&sentences[rows[i]], 1}, {.max_length = 512});
    EXPECT_LE(LargestDifference(embeddings[0], expected.row(i)), kTolerance) << rows[i];
  }
}

TEST(MiniLm, EqualBitsInAnyBatchOnAnyThreadsFromAnyFile) {
  TBOOST_REQUIRE_MODEL(kName);
  std::vector<std::string> sentences = Sentences();
  sentences.resize(24);
  const auto runtime = MakeRuntime();
  const auto direct = Must(Model::Load(*runtime, RealModel(kName)));
  const auto batch = Vectors(*direct, sentences);
  std::vector<std::string> reversed(sentences.rbegin(), sentences.rend());
  const auto backwards = Vectors(*direct, reversed);
  for (size_t i = 0; i < sentences.size(); ++i) {
    EXPECT_EQ(Vectors(*direct, {&sentences[i], 1})[0], batch[i]) << "alone: " << i;
    EXPECT_EQ(backwards[sentences.size() - 1 - i], batch[i]) << "backwards: " << i;
  }
  const TemporaryFolder folder;
  const std::string om = folder / "minilm.om";
  Must(CompileToFile(RealModel(kName), om, {}));
  for (int threads = 1; threads <= 3; ++threads) {
    const auto other = MakeRuntime(threads);
    EXPECT_EQ(Vectors(*Must(Model::Load(*other, om)), sentences), batch) << threads << " threads";
  }
}

TEST(MiniLm, EmbedStopsAndRefusesWhatItMust) {
  TBOOST_REQUIRE_MODEL(kName);
  const auto runtime = MakeRuntime();
  const auto model = Must(Model::Load(*runtime, RealModel(kName)));
  const std::vector<std::string> sentences = Sentences();
  CancelToken cancel;
  cancel.Cancel();
  EXPECT_THAT(Embed(*model, sentences, {.cancel = &cancel}),
              FailsWith(StatusCode::kCancelled, "stopped"));
  EXPECT_THAT(Embed(*model, sentences, {.progress = [](size_t, size_t) { return false; }}),
              FailsWith(StatusCode::kCancelled, "stopped"));
  EXPECT_THAT(Embed(*model, sentences, {.max_length = 513}),
              FailsWith(StatusCode::kOutOfRange, "513"));
  const std::vector<Ids> wrong[] = {{{101, 30522}}, {{101, -1}}, {{}}, {Ids(513, 101)}};
  for (const std::vector<Ids>& ids : wrong)
    EXPECT_THAT(EmbedIds(*model, ids), FailsWith(StatusCode::kOutOfRange, "text 0"));
}

}  // namespace
}  // namespace tboost
