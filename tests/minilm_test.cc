// all-MiniLM-L6-v2 against the golden of its own implementation.
#include "tboost/embed.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <numeric>

#include "src/base/file.h"
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

// Sentences of prose: the golden ones, a novel's and those of this project's documents.
std::vector<std::string> ManySentences() {
  std::vector<std::string> out = Sentences();
  const std::string root = TBOOST_SOURCE_DIR;
  std::vector<std::string> paths = {GoldenPath("perplexity.txt"), root + "/README.md"};
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root + "/docs"))
    if (entry.path().extension() == ".md") paths.push_back(entry.path());
  for (const std::string& path : paths) {
    std::string text = Must(ReadFile(path));
    std::ranges::replace(text, '\n', ' ');
    for (size_t begin = 0, end = 0; end < text.size(); begin = end + 2) {
      end = std::min(text.find(". ", begin), text.size());
      if (end - begin >= 40) out.push_back(text.substr(begin, end - begin));
    }
  }
  return out;
}

// Products in int8 turn the vectors by little, with codes of 7 bits (compile.h) by a little more.
TEST(MiniLm, Int8StaysNear) {
  TBOOST_REQUIRE_MODEL(kName);
  const auto runtime = MakeRuntime();
  const std::vector<std::string> sentences = ManySentences();
  ASSERT_GE(sentences.size(), 250u);
  const bool eight_bits = Must(ParseDTypeOption("int8")) == DType::kInt8;
  const auto expected = Vectors(*Must(Model::Load(*runtime, RealModel(kName))), sentences);
  const auto actual =
      Vectors(*Must(Model::Load(*runtime, RealModel(kName), {.dtype = "int8"})), sentences);
  double sum = 0, least = 1;
  for (size_t i = 0; i < sentences.size(); ++i) {
    const double cosine =
        std::inner_product(actual[i].begin(), actual[i].end(), expected[i].begin(), 0.0);
    sum += cosine;
    least = std::min(least, cosine);
  }
  const double mean = sum / static_cast<double>(sentences.size());
  std::printf("int8: mean cosine %.5f, least %.5f of %zu sentences\n", mean, least,
              sentences.size());
  EXPECT_GE(mean, eight_bits ? 0.998 : 0.996);
  EXPECT_GE(least, eight_bits ? 0.99 : 0.98);
  EXPECT_LT(mean, 0.999999) << "nothing was rounded";
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
