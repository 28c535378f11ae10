// What a model file says of its architecture, in one form for Hugging Face and GGUF.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/base/json.h"
#include "src/base/status.h"
#include "src/formats/gguf/metadata.h"

namespace tboost {

struct RopeScaling {
  std::string kind = "none";  // none, linear, llama3
  double factor = 1;
  double low_freq_factor = 1;
  double high_freq_factor = 4;
  double original_context = 8192;
};

// Names are Hugging Face's. Zero means "not given" where a field says so.
struct ModelConfig {
  std::string model_type;  // "llama", "bert", "gemma3_text"...: chooses the builder
  bool gguf = false;

  int64_t vocab_size = 0;
  int64_t hidden_size = 0;
  int64_t intermediate_size = 0;
  int64_t num_hidden_layers = 0;
  int64_t num_attention_heads = 0;
  int64_t num_key_value_heads = 0;
  int64_t head_dim = 0;
  int64_t max_position_embeddings = 0;
  int64_t type_vocab_size = 0;  // 0: no token types
  int64_t pad_token_id = 0;
  int64_t sliding_window = 0;          // 0: every layer sees everything
  int64_t sliding_window_pattern = 0;  // n: every n-th layer sees everything; 0: all slide
  std::vector<bool> sliding_layers;    // [num_hidden_layers]: which layers slide
  double norm_eps = 0;
  double rope_theta = 10000;
  double rope_local_theta = 0;       // of sliding layers; 0: as rope_theta
  double query_pre_attn_scalar = 0;  // 0: head_dim
  RopeScaling rope_scaling;          // of the layers that see everything
  std::string hidden_act;            // "gelu", "silu", "gelu_pytorch_tanh"...
};

// Reads and checks config.json (or the text_config in it).
Result<ModelConfig> ConfigFromHf(const Json& config, std::string_view name);
// Reads and checks GGUF metadata.
Result<ModelConfig> ConfigFromGguf(const GgufMetadata& metadata, std::string_view name);

}  // namespace tboost
