// Quality kept: a model that runs from its storage format predicts a text as well as the same
// weights dequantised to f32 do. Those are the oracle: causal_test.cc compares them with another
// implementation's.
#include "src/formats/gguf/gguf.h"
#include "src/formats/test_bytes.h"
#include "tests/gguf_file.h"
#include "tests/model_testing.h"
#include "tests/perplexity.h"
#include "tests/quantize.h"
#include "tests/sanitized.h"

namespace tboost {
namespace {

using namespace testing;

constexpr char kSmolLm[] = "SmolLM2-135M-Instruct.Q4_1.gguf";
constexpr char kGemma[] = "gemma-3-270m-q4_k_m.gguf";

// The real model `source` with its matrices in `dtype`, or, where a row is no whole number of its
// blocks, in `fallback`.
void WriteAs(DType dtype, DType fallback, const std::string& source, const std::string& path) {
  const GgufModel model = Must(ReadGguf(source));
  GgufFile file;
  for (const GgufEntry& entry : model.metadata.entries()) file.Copy(entry);
  for (const RawTensor& tensor : model.weights.tensors()) {
    const std::string_view bytes = model.weights.Bytes(tensor);
    if (tensor.shape.rank() != 2) {
      file.Tensor(tensor.name, tensor.dtype, tensor.shape, bytes);
      continue;
    }
    const bool whole = tensor.shape[1] % Info(dtype).block_elements == 0;
    const DType stored = whole ? dtype : fallback;
    std::vector<float> values(tensor.shape.elements());
    DequantizeRow(tensor.dtype, bytes.data(), tensor.shape.elements(), values.data());
    file.Tensor(tensor.name, stored, tensor.shape,
                Quantize(stored, values.data(), tensor.shape.elements()));
  }
  file.Write(path);
}

// 500 tokens; the whole text where there is time.
Ids TextFor(const Model& model) {
  Ids ids = Must(model.Tokenize(Must(ReadFile(GoldenPath("perplexity.txt"))) +
                                Must(ReadFile(GoldenPath("quality.txt")))));
  EXPECT_GE(ids.size(), 2000u);
  if (!std::getenv("TBOOST_SLOW_TESTS")) ids.resize(500);
  return ids;
}

void ExpectQualityKept(const std::string& path, const std::string& name) {
  const auto runtime = MakeRuntime();
  constexpr size_t kWindow = 1024;
  double perplexity[2];
  for (const bool dequantised : {false, true}) {
    const LoadOptions options = {.dtype = dequantised ? "f32" : "keep", .max_context = kWindow};
    const auto model = Must(Model::Load(*runtime, path, options));
    perplexity[dequantised] = Perplexity(*model, TextFor(*model), kWindow);
  }
  EXPECT_NEAR(perplexity[0] / perplexity[1], 1, 1e-3);
  EXPECT_LT(perplexity[1], 100) << "this is no model of English";
  std::printf("%-40s perplexity %.5f, dequantised %.5f\n", name.c_str(), perplexity[0],
              perplexity[1]);
}

TEST(Quality, FilesAsTheyAre) {
  TBOOST_SKIP_IF_SANITIZED();
  for (const char* name : {kSmolLm, kGemma}) {
    TBOOST_REQUIRE_MODEL(name);
    ExpectQualityKept(RealModel(name), name);
  }
}

// The logits after each of 256 tokens of a text.
std::vector<float> Logits(Runtime& runtime, const std::string& path, const std::string& kv_dtype) {
  const auto model = Must(Model::Load(runtime, path, {.max_context = 256, .kv_dtype = kv_dtype}));
  Ids ids = TextFor(*model);
  ids.resize(256);
  std::vector<float> all;
  Must(Generator(*model).Score(ids, [&](int64_t, int64_t rows, const float* logits) {
    all.insert(all.end(), logits, logits + rows * model->vocab_size());
    return OkStatus();
  }));
  return all;
}

struct CacheError {
  const char* model;
  double bf16, int8;  // of a logit, at most
};

TEST(Quality, KeysAndValuesOfFewerBits) {
  TBOOST_SKIP_IF_SANITIZED();
  for (const CacheError& bounds : {CacheError{kSmolLm, 0.2, 1.5}, CacheError{kGemma, 0.2, 3}}) {
    TBOOST_REQUIRE_MODEL(bounds.model);
    const std::string path = RealModel(bounds.model);
    const auto runtime = MakeRuntime();
    const std::vector<float> exact = Logits(*runtime, path, "f32");
    const double bf16 = LargestDifference(Logits(*runtime, path, "bf16"), exact);
    const double int8 = LargestDifference(Logits(*runtime, path, "int8"), exact);
    EXPECT_LT(bf16, bounds.bf16) << bounds.model;
    EXPECT_LT(int8, bounds.int8) << bounds.model;
    EXPECT_GT(bf16, 0) << "the cache is not in bf16";
    EXPECT_GT(int8, bf16) << "the cache is not in int8";
    const auto [least, largest] = std::ranges::minmax(exact);
    std::printf("%-40s logits %.2f to %.2f; differences up to %.4f with bf16, %.4f with int8\n",
                bounds.model, least, largest, bf16, int8);
  }
}

class QualityOfFormat : public ::testing::TestWithParam<DType> {};

TEST_P(QualityOfFormat, SmolLm) {
  TBOOST_SKIP_IF_SANITIZED();
  TBOOST_REQUIRE_MODEL(kSmolLm);
  const TemporaryFolder folder;
  const std::string path = folder / "model.gguf";
  WriteAs(GetParam(), DType::kQ5_0, RealModel(kSmolLm), path);
  ExpectQualityKept(path, fmt::format("SmolLM2-135M-Instruct in {}", DTypeName(GetParam())));
}

INSTANTIATE_TEST_SUITE_P(All, QualityOfFormat,
                         ::testing::Values(DType::kF16, DType::kBF16, DType::kQ8_0, DType::kQ4_0,
                                           DType::kQ5_0, DType::kQ4_K, DType::kQ6_K),
                         [](const auto& info) { return std::string(DTypeName(info.param)); });

}  // namespace
}  // namespace tboost
