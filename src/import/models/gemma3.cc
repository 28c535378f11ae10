// Gemma 3: norms before and after both halves of a layer, q and k normalised per head, five sliding
// layers to one that sees everything, each kind with its own rotary base.
#include <cmath>

#include "src/import/models/builder.h"

namespace tboost::models {
namespace {

struct Angles {
  ValueId local, global;
};

ValueId SelfAttention(ModelBuilder& b, ValueId x, Angles angles, int64_t layer) {
  const ModelConfig& c = b.config;
  const bool slides = c.sliding_layers[layer];
  const bool plus_one = !c.gguf;
  const ValueId rotation = slides ? angles.local : angles.global;
  ValueId q = b.Linear(x, "self_attn.q_proj", c.num_attention_heads * c.head_dim);
  ValueId k = b.Linear(x, "self_attn.k_proj", c.num_key_value_heads * c.head_dim);
  const ValueId v = b.Linear(x, "self_attn.v_proj", c.num_key_value_heads * c.head_dim);
  q = b.RmsNorm(q, "self_attn.q_norm", plus_one, c.num_attention_heads);
  k = b.RmsNorm(k, "self_attn.k_norm", plus_one, c.num_key_value_heads);
  q = b.Rope(q, rotation, c.num_attention_heads);
  k = b.Rope(k, rotation, c.num_key_value_heads);
  const double scalar =
      c.query_pre_attn_scalar > 0 ? c.query_pre_attn_scalar : static_cast<double>(c.head_dim);
  const ValueId seen =
      b.CachedAttention(q, k, v, layer, 1 / std::sqrt(scalar), slides ? c.sliding_window : 0);
  return b.Linear(seen, "self_attn.o_proj", c.hidden_size);
}

void Build(ModelBuilder& b) {
  const ModelConfig& c = b.config;
  const bool plus_one = !c.gguf;
  const double local_theta = c.rope_local_theta > 0 ? c.rope_local_theta : c.rope_theta;
  const Angles angles{b.RopeAngles(local_theta, RopeScaling{}),
                      b.RopeAngles(c.rope_theta, c.rope_scaling)};
  const auto hidden = static_cast<double>(c.hidden_size);
  ValueId h = b.Embedding(b.InputIds(), "model.embed_tokens", c.vocab_size, std::sqrt(hidden));
  for (int64_t layer = 0; layer < c.num_hidden_layers; ++layer) {
    b.SetPrefix(fmt::format("model.layers.{}", layer));
    ValueId x = SelfAttention(b, b.RmsNorm(h, "input_layernorm", plus_one), angles, layer);
    h = b.Add(h, b.RmsNorm(x, "post_attention_layernorm", plus_one));
    x = b.RmsNorm(h, "pre_feedforward_layernorm", plus_one);
    const ValueId gate = b.Activation(b.Linear(x, "mlp.gate_proj", c.intermediate_size),
                                      kernels::Activation::kGeluTanh);
    const ValueId up = b.Linear(x, "mlp.up_proj", c.intermediate_size);
    x = b.Linear(b.Mul(gate, up), "mlp.down_proj", c.hidden_size);
    h = b.Add(h, b.RmsNorm(x, "post_feedforward_layernorm", plus_one));
  }
  b.SetPrefix("");
  b.Logits(b.RmsNorm(b.SelectOutputs(h), "model.norm", plus_one), "lm_head", "model.embed_tokens");
}

}  // namespace

const ModelRecord& Gemma3() {
  static const ModelRecord record = {
      .name = "gemma3",
      .hf_types = {"gemma3_text"},
      .gguf_types = {"gemma3"},
      .generates = true,
      .prefixes = {"", "language_model."},
      .probe = "model.embed_tokens.weight",
      .gguf_rules = {},
      .build = Build,
  };
  return record;
}

}  // namespace tboost::models
