// Whole models for tests: real ones, small random ones, and any output of any batch of them.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "src/base/json.h"
#include "src/base/random.h"
#include "src/compile/compile.h"
#include "src/formats/npy/npy.h"
#include "src/formats/safetensors/safetensors.h"
#include "src/ops/ops.h"
#include "src/runtime/executor.h"
#include "src/runtime/runtime_state.h"
#include "tboost/runtime.h"
#include "tests/real_model.h"

namespace tboost::testing {

using Ids = std::vector<int32_t>;

// The value of a Result, or a test failure with its message and an end of the program: for what
// has to work before anything can be tested.
template <class T>
T Must(Result<T> result) {
  if (!result.ok()) {
    ADD_FAILURE() << result.status().message();
    std::exit(1);
  }
  return *std::move(result);
}
inline void Must(const Status& status) { Must(status.ok() ? Result<int>(0) : Result<int>(status)); }

inline std::string SourcePath(std::string_view name) {
  return std::string(TBOOST_SOURCE_DIR "/") + std::string(name);
}
inline std::string GoldenPath(std::string_view name) {
  return SourcePath("tests/golden/") + std::string(name);
}
inline Json GoldenJson(std::string_view name) {
  return Must(ParseJson(Must(ReadFile(GoldenPath(name))), name));
}

struct Floats {
  std::vector<float> values;
  int64_t columns = 0;
  int64_t rows() const { return static_cast<int64_t>(values.size()) / columns; }
  std::span<const float> row(int64_t i) const {
    return std::span(values).subspan(i * columns, columns);
  }
};

inline Floats GoldenFloats(std::string_view name) {
  const NpyArray array = Must(ReadNpy(GoldenPath(name)));
  Floats out;
  out.columns = array.shape.back();
  out.values.resize(array.shape.elements());
  std::memcpy(out.values.data(), array.data.data(), out.values.size() * sizeof(float));
  return out;
}

// The largest difference; not a number where either side has one.
template <class A, class B>
double LargestDifference(const A& a, const B& b) {
  EXPECT_EQ(a.size(), b.size());
  double largest = 0;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    const double difference = std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
    if (!(difference <= largest)) largest = difference;
  }
  return largest;
}

// Small models too run on all threads.
inline std::unique_ptr<Runtime> MakeRuntime(int threads = 2) {
  auto runtime = Must(Runtime::Create({.threads = threads}));
  runtime->state().every_thread = true;
  return runtime;
}

inline constexpr std::string_view kTinyModels[] = {
    "bert",         "roberta",          "distilbert", "llama_tied", "llama_llama3",
    "llama_linear", "llama_parameters", "mistral",    "qwen2",      "gemma3"};

// The elements of a tensor of a small model (tests/golden/tiny_models.py has the rule).
inline std::string TinyTensor(std::string_view name, const Shape& shape, double scale,
                              double offset) {
  const HashRandom random(1, name);
  const int64_t columns = shape.rank() == 2 ? shape[1] : 0;
  std::string bytes(shape.elements() * sizeof(float), '\0');
  for (int64_t i = 0; i < shape.elements(); ++i) {
    const double outlier = columns && i % columns % 16 == 5 ? 4 : 1;
    const auto value = static_cast<float>(offset + scale * outlier * random.Uniform(i));
    std::memcpy(bytes.data() + i * sizeof(float), &value, sizeof(float));
  }
  return bytes;
}

// Writes tests/golden/tiny/`name` as a Hugging Face folder into `folder`. `tokenizer` names one of
// tests/golden/tokenizers_*.json; the vocabulary then grows to it. "": none.
inline void WriteTinyModel(std::string_view name, const std::string& folder,
                           std::string_view tokenizer = "") {
  const std::string golden = fmt::format("tiny/{}/", name);
  Json config = GoldenJson(golden + "config.json");
  const Json tensors = GoldenJson(golden + "golden.json").at("tensors");
  std::filesystem::create_directories(folder);
  if (!tokenizer.empty()) {
    const std::string file = fmt::format("tokenizers_{}.json", tokenizer);
    const Json words = GoldenJson(file);
    int64_t last = static_cast<int64_t>(words.at("model").at("vocab").size()) - 1;
    for (const Json& token : words.at("added_tokens"))
      last = std::max(last, token.at("id").get<int64_t>());
    config["vocab_size"] = last + 1;
    std::filesystem::copy_file(GoldenPath(file), folder + "/tokenizer.json");
  }
  std::ofstream(folder + "/config.json") << config.dump();
  std::vector<std::string> names, bytes;
  std::vector<Shape> shapes;
  for (const auto& [tensor, entry] : tensors.items()) {
    Shape shape;
    for (const Json& size : entry.at(0)) shape.push_back(size.get<int64_t>());
    const bool table = tensor.find("word_embed") != std::string::npos ||
                       tensor.find("embed_tokens") != std::string::npos ||
                       tensor.find("lm_head") != std::string::npos;
    if (table) shape[0] = config.at("vocab_size").get<int64_t>();
    names.push_back(tensor);
    shapes.push_back(shape);
    bytes.push_back(TinyTensor(tensor, shape, entry.at(1), entry.at(2)));
  }
  std::vector<SafetensorsTensor> list;
  for (size_t i = 0; i < names.size(); ++i)
    list.push_back({names[i], DType::kF32, shapes[i], bytes[i]});
  Must(WriteSafetensors(folder + "/model.safetensors", list));
}

// What a small model is compared with.
struct TinyGolden {
  explicit TinyGolden(std::string_view name)
      : expected(GoldenFloats(fmt::format("tiny/{}/output.npy", name))) {
    const Json golden = GoldenJson(fmt::format("tiny/{}/golden.json", name));
    output = golden.at("output").get<std::string>();
    sequences = golden.at("sequences").get<std::vector<Ids>>();
  }
  std::string output;
  std::vector<Ids> sequences;
  Floats expected;  // all tokens, one sequence after another
};

// A compiled model below the public interface: any output, for any batch of sequences.
class TestModel {
 public:
  TestModel(Runtime& runtime, OmReader reader, const TileChoice& tiles = {})
      : om_(Must(LoadOmModel(std::move(reader), BuiltinOps(), "test"))) {
    std::vector<KvLayer> layers;
    for (ValueId cache : om_->program.caches) {
      const std::vector<Dim>& shape = om_->program.graph.value(cache).type.shape;
      layers.push_back(
          {static_cast<int>(*shape[0].constant()), static_cast<int>(*shape[1].constant())});
    }
    pool_.emplace(Must(KvPool::Create(layers, 64 * 64)));
    executor_.emplace(runtime, om_->program, om_->weights.data(), &*pool_, tiles);
  }
  TestModel(Runtime& runtime, const std::string& path, const CompileOptions& options = {},
            const TileChoice& tiles = {})
      : TestModel(runtime, Must(CompileToMemory(path, options)), tiles) {}

  // The rows of `output` for sequences that start here, in one step: logits of every token, or what
  // an encoder gives.
  Floats Run(std::span<const Ids> sequences, std::string_view output) {
    std::vector<KvSequence> kv(sequences.size());
    std::vector<SequenceStep> steps;
    size_t tokens = 0;
    for (size_t s = 0; s < sequences.size(); ++s) {
      Must(pool_->Reserve(kv[s], static_cast<int64_t>(sequences[s].size())));
      steps.push_back({sequences[s], om_->program.caches.empty() ? nullptr : &kv[s]});
      tokens += sequences[s].size();
    }
    Ids rows(tokens);
    std::iota(rows.begin(), rows.end(), 0);
    if (om_->program.caches.empty()) rows.clear();
    Floats out;
    Must(executor_->Run({.sequences = steps, .token_type_ids = {}, .output_rows = rows},
                        [&](const Executor::Outputs& outputs) {
                          out = Copy(outputs.Get(output));
                          return OkStatus();
                        }));
    for (KvSequence& sequence : kv) pool_->Truncate(sequence, 0);
    return out;
  }

  static Floats Copy(const TensorView& view) {
    Floats out;
    out.columns = view.shape.back();
    for (int64_t i = 0; i < view.shape[0]; ++i) {
      const float* row = view.as<const float>() + i * view.stride();
      out.values.insert(out.values.end(), row, row + out.columns);
    }
    return out;
  }

  const OmModel& om() const { return *om_; }
  KvPool& pool() { return *pool_; }
  Executor& executor() { return *executor_; }

 private:
  std::unique_ptr<OmModel> om_;
  std::optional<KvPool> pool_;
  std::optional<Executor> executor_;
};

}  // namespace tboost::testing
