// Llama and what shares its layer: Mistral (sliding window), Qwen2 (biases of q, k, v), SmolLM.
#include <cmath>

#include "src/import/models/builder.h"

namespace tboost::models {
namespace {

ValueId SelfAttention(ModelBuilder& b, ValueId x, ValueId angles, int64_t layer) {
  const ModelConfig& c = b.config;
  // Only files of architecture "llama" store the rows of a head as pairs.
  const bool pairs = c.gguf && c.model_type == "llama";
  ValueId q = b.RotaryLinear(x, "self_attn.q_proj", c.num_attention_heads, pairs);
  ValueId k = b.RotaryLinear(x, "self_attn.k_proj", c.num_key_value_heads, pairs);
  const ValueId v = b.Linear(x, "self_attn.v_proj", c.num_key_value_heads * c.head_dim);
  q = b.Rope(q, angles, c.num_attention_heads);
  k = b.Rope(k, angles, c.num_key_value_heads);
  const int64_t window = c.sliding_layers[layer] ? c.sliding_window : 0;
  const ValueId seen = b.CachedAttention(q, k, v, layer, 1 / std::sqrt(c.head_dim), window);
  return b.Linear(seen, "self_attn.o_proj", c.hidden_size);
}

void Build(ModelBuilder& b) {
  const ModelConfig& c = b.config;
  const ValueId angles = b.RopeAngles(c.rope_theta, c.rope_scaling);
  ValueId h = b.Embedding(b.InputIds(), "model.embed_tokens", c.vocab_size);
  for (int64_t layer = 0; layer < c.num_hidden_layers; ++layer) {
    b.SetPrefix(fmt::format("model.layers.{}", layer));
    h = b.Add(h, SelfAttention(b, b.RmsNorm(h, "input_layernorm"), angles, layer));
    const ValueId x = b.RmsNorm(h, "post_attention_layernorm");
    const ValueId gate =
        b.Activation(b.Linear(x, "mlp.gate_proj", c.intermediate_size), b.HiddenActivation());
    const ValueId up = b.Linear(x, "mlp.up_proj", c.intermediate_size);
    h = b.Add(h, b.Linear(b.Mul(gate, up), "mlp.down_proj", c.hidden_size));
  }
  b.SetPrefix("");
  b.Logits(b.RmsNorm(b.SelectOutputs(h), "model.norm"), "lm_head", "model.embed_tokens");
}

}  // namespace

const ModelRecord& Llama() {
  static const ModelRecord record = {
      .name = "llama",
      .hf_types = {"llama", "mistral", "qwen2"},
      .gguf_types = {"llama", "qwen2"},
      .generates = true,
      .prefixes = {"", "language_model."},
      .probe = "model.embed_tokens.weight",
      .gguf_rules = {{"post_attention_layernorm.", "ffn_norm."}},
      .build = Build,
  };
  return record;
}

}  // namespace tboost::models
