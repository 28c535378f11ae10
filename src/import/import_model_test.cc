#include "src/import/import_model.h"

#include <filesystem>
#include <fstream>
#include <limits>

#include "src/formats/test_bytes.h"
#include "src/import/models/builder.h"
#include "src/import/weights.h"
#include "tests/model_testing.h"

namespace tboost {
namespace {

using namespace testing;

TEST(Import, GgufNamesOfTensors) {
  const std::pair<std::string_view, std::string_view> names[] = {
      {"model.embed_tokens.weight", "token_embd.weight"},
      {"model.layers.3.mlp.up_proj.weight", "blk.3.ffn_up.weight"},
      {"model.layers.0.self_attn.q_proj.bias", "blk.0.attn_q.bias"},
      {"encoder.layer.1.attention.output.dense.weight", "blk.1.attn_output.weight"},
      {"encoder.layer.1.output.LayerNorm.bias", "blk.1.layer_output_norm.bias"},
      {"model.norm.weight", "output_norm.weight"},
      {"something.else", "something.else"}};
  for (const auto& [hf, gguf] : names) EXPECT_EQ(GgufTensorName(hf), gguf);
  const NameRule own[] = {{"post_attention_layernorm.", "ffn_norm."}};
  EXPECT_EQ(GgufTensorName("model.layers.2.post_attention_layernorm.weight", own),
            "blk.2.ffn_norm.weight");
}

class ImportFolder : public ::testing::Test {
 protected:
  // Imports a small model whose config.json is changed.
  Result<ImportedModel> Import(std::string_view name, const std::function<void(Json&)>& change) {
    const std::string path = folder_ / name;
    std::filesystem::remove_all(path);
    WriteTinyModel(name, path);
    Json config = Must(ParseJson(Must(ReadFile(path + "/config.json")), "config"));
    change(config);
    std::ofstream(path + "/config.json") << config.dump();
    return ImportModel(path, {});
  }
  TemporaryFolder folder_;
};

TEST_F(ImportFolder, WhatTheFilesSay) {
  const ImportedModel model = Must(Import("mistral", [](Json&) {}));
  EXPECT_EQ(model.architecture, "llama");
  EXPECT_TRUE(model.generates);
  EXPECT_EQ(model.config.head_dim, 24);
  EXPECT_EQ(model.config.sliding_window, 8);
  EXPECT_EQ(model.settings.at("context_length"), 128);
  EXPECT_EQ(model.settings.at("generation").at("eos_token_ids"), Json::array({2}));
  const ImportedModel bert = Must(Import("roberta", [](Json&) {}));
  EXPECT_FALSE(bert.generates);
  EXPECT_EQ(bert.settings.at("embedding").at("max_length"), 48) << "two positions are padding's";
}

struct BadConfig {
  std::string_view model, key;
  Json value;
  StatusCode code;
  std::string_view message;
};

TEST_F(ImportFolder, ErrorsNameTheFieldOrTensor) {
  using enum StatusCode;
  const BadConfig cases[] = {
      {"bert", "model_type", "mamba", kUnsupported, "mamba"},
      {"bert", "model_type", "mamba", kUnsupported, "roberta"},
      {"bert", "model_type", 7, kCorrupt, "model_type"},
      {"bert", "hidden_size", nullptr, kCorrupt, "hidden_size"},
      {"bert", "hidden_size", -64, kCorrupt, "hidden_size is -64"},
      {"bert", "hidden_size", int64_t{1} << 40, kCorrupt, "hidden_size"},
      {"bert", "num_hidden_layers", 1 << 24, kCorrupt, "expected 1 to 4096"},
      {"bert", "hidden_size", 96, kCorrupt, "[120, 64], expected [120, 96]"},
      {"roberta", "pad_token_id", std::numeric_limits<int64_t>::max(), kCorrupt, "pad_token_id"},
      {"roberta", "pad_token_id", 1000, kCorrupt, "no position after pad_token_id 1000"},
      {"bert", "num_hidden_layers", 3, kNotFound, "encoder.layer.2.attention.self.query.weight"},
      {"bert", "vocab_size", 121, kCorrupt, "[120, 64], expected [121, 64]"},
      {"bert", "layer_norm_eps", -1, kCorrupt, "epsilon of norms is -1"},
      {"bert", "position_embedding_type", "relative_key", kUnsupported, "relative_key"},
      {"bert", "hidden_act", "gelu_best", kUnsupported, "gelu_best"},
      {"llama_tied", "num_key_value_heads", 3, kCorrupt, "num_key_value_heads 3"},
      {"llama_tied", "head_dim", 20, kUnsupported, "head_dim is 20"},
      {"llama_tied", "rope_theta", -1, kCorrupt, "rope_theta"},
      {"llama_tied", "rope_scaling", Json{{"rope_type", "yarn"}}, kUnsupported, "yarn"},
      {"gemma3", "layer_types", Json::array({"full_attention"}), kCorrupt, "layer_types"},
      {"gemma3", "layer_types", Json::array({"a", "b", "c"}), kUnsupported, "layer type"}};
  for (const BadConfig& test : cases) {
    SCOPED_TRACE(fmt::format("{}: {} = {}", test.model, test.key, test.value.dump()));
    const auto result =
        Import(test.model, [&](Json& config) { config[std::string(test.key)] = test.value; });
    EXPECT_THAT(result, FailsWith(test.code, test.message));
    EXPECT_THAT(result, FailsWith(test.code, folder_.path())) << "the file is named";
  }
  EXPECT_THAT(Import("bert",
                     [](Json& config) {
                       config = {{"model_type", "gpt2"}};
                     }),
              FailsWith(kUnsupported, "architecture \"gpt2\" is not supported; supported: bert"))
      << "whatever its sizes are called";
  EXPECT_THAT(ImportModel(folder_ / "nothing", {}), FailsWith(kNotFound, "no such file"));
}

}  // namespace
}  // namespace tboost
