// GGUF files: the small models under their GGUF names, and every storage format that is kept.
#include "src/formats/test_bytes.h"
#include "src/import/import_model.h"
#include "src/import/weights.h"
#include "src/tensor/float16.h"
#include "tests/gguf_file.h"
#include "tests/model_testing.h"
#include "tests/reference.h"

namespace tboost {
namespace {

using namespace testing;

// --- The small models of tests/golden/tiny as GGUF files.

struct GgufCase {
  std::string_view name, architecture;
  std::vector<NameRule> rules;  // of names that this architecture has for itself
  std::string_view norm_key;
  bool pairs = false;    // q and k in pairs of rows, as files of "llama" have them
  double norm_plus = 0;  // what a converter adds to the weights of norms
};

const GgufCase kGgufCases[] = {
    {"bert", "bert", {}, "attention.layer_norm_epsilon"},
    {"llama_tied",
     "llama",
     {{"post_attention_layernorm.", "ffn_norm."}},
     "attention.layer_norm_rms_epsilon",
     true},
    {"llama_linear",
     "llama",
     {{"post_attention_layernorm.", "ffn_norm."}},
     "attention.layer_norm_rms_epsilon",
     true},
    {"qwen2",
     "qwen2",
     {{"post_attention_layernorm.", "ffn_norm."}},
     "attention.layer_norm_rms_epsilon"},
    {"gemma3", "gemma3", {}, "attention.layer_norm_rms_epsilon", false, 1}};

void AddConfig(const GgufCase& test, const Json& config, GgufFile& file) {
  const std::string prefix = std::string(test.architecture) + ".";
  file.Text("general.architecture", test.architecture);
  const std::pair<std::string_view, std::string_view> integers[] = {
      {"embedding_length", "hidden_size"},
      {"feed_forward_length", "intermediate_size"},
      {"block_count", "num_hidden_layers"},
      {"attention.head_count", "num_attention_heads"},
      {"attention.head_count_kv", "num_key_value_heads"},
      {"attention.key_length", "head_dim"},
      {"context_length", "max_position_embeddings"},
      {"token_type_count", "type_vocab_size"}};
  for (const auto& [key, name] : integers)
    if (config.contains(name)) file.Integer(prefix + std::string(key), config.at(name));
  file.Real(prefix + std::string(test.norm_key),
            config.value("rms_norm_eps", config.value("layer_norm_eps", 0.0)));
  if (config.contains("rope_theta")) file.Real(prefix + "rope.freq_base", config.at("rope_theta"));
  if (config.contains("rope_scaling")) {
    file.Text(prefix + "rope.scaling.type", "linear");
    file.Real(prefix + "rope.scaling.factor", config.at("rope_scaling").at("factor"));
  }
  if (test.name == "gemma3") {
    file.Integer(prefix + "attention.sliding_window", config.at("sliding_window"));
    file.Integer(prefix + "attention.sliding_window_pattern", 2);
    file.Real(prefix + "attention.query_pre_attn_scalar", config.at("query_pre_attn_scalar"));
  }
  AddVocabulary(file, config.at("vocab_size"));
}

// Rows of every head from halves (i, i + half) to pairs (2i, 2i + 1).
std::string InPairs(const std::string& bytes, int64_t rows, int64_t head_rows) {
  const size_t row = bytes.size() / rows;
  std::string out;
  for (int64_t head = 0; head < rows; head += head_rows)
    for (int64_t i = 0; i < head_rows / 2; ++i)
      out +=
          bytes.substr((head + i) * row, row) + bytes.substr((head + i + head_rows / 2) * row, row);
  return out;
}

void AddTensors(const GgufCase& test, const Json& tensors, int64_t head_dim, GgufFile& file) {
  for (const auto& [name, entry] : tensors.items()) {
    Shape shape;
    for (const Json& size : entry.at(0)) shape.push_back(size.get<int64_t>());
    const bool norm = shape.rank() == 1 && entry.at(2) == (test.norm_plus ? 0.0 : 1.0) &&
                      name.ends_with("norm.weight");
    std::string bytes = TinyTensor(name, shape, entry.at(1),
                                   entry.at(2).get<double>() + (norm ? test.norm_plus : 0));
    if (test.pairs &&
        (name.find("q_proj") != std::string::npos || name.find("k_proj") != std::string::npos))
      bytes = InPairs(bytes, shape[0], head_dim);
    file.Tensor(GgufTensorName(name, test.rules), DType::kF32, shape, bytes);
  }
}

TEST(GgufModels, GiveWhatTheFolderGives) {
  const auto runtime = MakeRuntime();
  const TemporaryFolder folder;
  for (const GgufCase& test : kGgufCases) {
    SCOPED_TRACE(test.name);
    const Json config = GoldenJson(fmt::format("tiny/{}/config.json", test.name));
    const Json tensors = GoldenJson(fmt::format("tiny/{}/golden.json", test.name)).at("tensors");
    const int64_t head_dim =
        config.value("head_dim", config.at("hidden_size").get<int64_t>() /
                                     config.at("num_attention_heads").get<int64_t>());
    GgufFile file;
    AddConfig(test, config, file);
    AddTensors(test, tensors, head_dim, file);
    const std::string path = folder / fmt::format("{}.gguf", test.name);
    file.Write(path);
    TestModel model(*runtime, path);
    const TinyGolden golden(test.name);
    EXPECT_LE(LargestDifference(model.Run(golden.sequences, golden.output).values,
                                golden.expected.values),
              1e-4);
  }
}

// --- Kept storage formats.

// Random codes with scales that give weights of about 1 / sqrt(256), as a layer of this width has.
std::string RandomBlocks(DType dtype, uint64_t elements, std::string_view name) {
  const DTypeInfo& info = Info(dtype);
  const HashRandom random(5, name);
  std::string out(*StorageBytes(dtype, elements), '\0');
  for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<char>(random.Bits(i) >> 32);
  // Where a block's scales are, and what they are about.
  struct Scale {
    DType dtype;
    size_t offset;
    double value;
  };
  static constexpr Scale kScales[] = {{DType::kQ8_0, 0, 0.0009}, {DType::kQ4_0, 0, 0.0135},
                                      {DType::kQ4_1, 0, 0.0135}, {DType::kQ4_1, 2, -0.1},
                                      {DType::kQ5_0, 0, 0.0068}, {DType::kQ4_K, 0, 0.0004},
                                      {DType::kQ4_K, 2, 0.003},  {DType::kQ6_K, 208, 5e-5}};
  const HashRandom factors(6, name);
  for (size_t block = 0; block < out.size() / info.block_bytes; ++block) {
    char* bytes = out.data() + block * info.block_bytes;
    if (!info.quantised()) {
      const float value = 0.1f * factors.Uniform(block);
      const uint16_t bits = dtype == DType::kF16 ? FloatToF16(value) : FloatToBF16(value);
      std::memcpy(bytes, &bits, sizeof(bits));
    }
    for (const Scale& scale : kScales) {
      if (scale.dtype != dtype) continue;
      const double factor = 1 + 0.5 * factors.Uniform(block * 2 + (scale.offset == 2));
      const uint16_t bits = FloatToF16(static_cast<float>(scale.value * factor));
      std::memcpy(bytes + scale.offset, &bits, sizeof(bits));
    }
  }
  return out;
}

struct FormatCase {
  std::string name;
  DType attention, feed_forward, value, embedding;
};

constexpr int64_t kHidden = 256, kFeedForward = 512, kVocabulary = 70, kKeyValue = 128;

void WriteLlama(const FormatCase& test, const std::string& path) {
  GgufFile file;
  file.Text("general.architecture", "llama")
      .Integer("llama.embedding_length", kHidden)
      .Integer("llama.feed_forward_length", kFeedForward)
      .Integer("llama.block_count", 2)
      .Integer("llama.attention.head_count", 4)
      .Integer("llama.attention.head_count_kv", 2)
      .Integer("llama.context_length", 128)
      .Real("llama.attention.layer_norm_rms_epsilon", 1e-5);
  AddVocabulary(file, kVocabulary);
  const auto matrix = [&](const std::string& name, DType dtype, int64_t rows, int64_t columns) {
    file.Tensor(name, dtype, {rows, columns}, RandomBlocks(dtype, rows * columns, name));
  };
  const auto norm = [&](const std::string& name) {
    file.Tensor(name, DType::kF32, {kHidden}, TinyTensor(name, {kHidden}, 0.25, 1));
  };
  matrix("token_embd.weight", test.embedding, kVocabulary, kHidden);
  norm("output_norm.weight");
  for (int layer = 0; layer < 2; ++layer) {
    const std::string prefix = fmt::format("blk.{}.", layer);
    norm(prefix + "attn_norm.weight");
    norm(prefix + "ffn_norm.weight");
    matrix(prefix + "attn_q.weight", test.attention, kHidden, kHidden);
    matrix(prefix + "attn_k.weight", test.attention, kKeyValue, kHidden);
    matrix(prefix + "attn_v.weight", test.value, kKeyValue, kHidden);
    matrix(prefix + "attn_output.weight", test.attention, kHidden, kHidden);
    matrix(prefix + "ffn_gate.weight", test.feed_forward, kFeedForward, kHidden);
    matrix(prefix + "ffn_up.weight", test.feed_forward, kFeedForward, kHidden);
    matrix(prefix + "ffn_down.weight", test.value, kHidden, kFeedForward);
  }
  file.Write(path);
}

// The logits that the graph as imported means, in double.
std::vector<double> InterpretLogits(const std::string& path, const Ids& ids) {
  ImportedModel model = Must(ImportModel(path, {}));
  Must(model.graph.Compact());
  return Interpret(model.graph, model.weights(), {&ids, 1}).outputs.at("logits").data;
}

TEST(GgufModels, EveryKeptFormatGivesWhatTheReferenceGives) {
  std::vector<FormatCase> cases;
  for (DType dtype : {DType::kF16, DType::kBF16, DType::kQ8_0, DType::kQ4_0, DType::kQ4_1,
                      DType::kQ5_0, DType::kQ4_K, DType::kQ6_K})
    cases.push_back({std::string(DTypeName(dtype)), dtype, dtype, dtype, dtype});
  // As the files mix them.
  cases.push_back({"mixed", DType::kQ4_K, DType::kQ5_0, DType::kQ6_K, DType::kQ8_0});
  const auto runtime = MakeRuntime();
  const TemporaryFolder folder;
  const Ids ids = {3, 69, 14, 15, 9, 26, 5, 35, 8, 60, 7, 0};
  for (const FormatCase& test : cases) {
    SCOPED_TRACE(test.name);
    const std::string path = folder / (test.name + ".gguf");
    WriteLlama(test, path);
    const std::vector<double> expected = InterpretLogits(path, ids);
    double largest = 0;
    for (double x : expected) largest = std::max(largest, std::abs(x));
    for (int level : {0, 3}) {
      TestModel model(*runtime, path, {.optimization_level = level});
      const Floats logits = model.Run({&ids, 1}, "logits");
      EXPECT_LE(LargestDifference(logits.values, expected), 2e-5 * largest) << "level " << level;
    }
  }
}

}  // namespace
}  // namespace tboost
