// DistilBERT: BERT's layer under other names, without token types.
#include "src/import/models/builder.h"

namespace tboost::models {
namespace {

void Build(ModelBuilder& b) {
  const ModelConfig& c = b.config;
  ValueId h = b.Embedding(b.InputIds(), "embeddings.word_embeddings", c.vocab_size);
  h = b.Add(
      h, b.Embedding(b.Positions(0), "embeddings.position_embeddings", c.max_position_embeddings));
  h = b.LayerNorm(h, "embeddings.LayerNorm");
  for (int64_t layer = 0; layer < c.num_hidden_layers; ++layer) {
    b.SetPrefix(fmt::format("transformer.layer.{}", layer));
    const ValueId q = b.Linear(h, "attention.q_lin", c.hidden_size);
    const ValueId k = b.Linear(h, "attention.k_lin", c.hidden_size);
    const ValueId v = b.Linear(h, "attention.v_lin", c.hidden_size);
    ValueId x = b.Linear(b.Attention(q, k, v), "attention.out_lin", c.hidden_size);
    h = b.LayerNorm(b.Add(x, h), "sa_layer_norm");
    x = b.Activation(b.Linear(h, "ffn.lin1", c.intermediate_size), b.HiddenActivation());
    x = b.Linear(x, "ffn.lin2", c.hidden_size);
    h = b.LayerNorm(b.Add(x, h), "output_layer_norm");
  }
  b.SetPrefix("");
  b.Hidden(h);
}

}  // namespace

const ModelRecord& DistilBert() {
  static const ModelRecord record = {
      .name = "distilbert",
      .hf_types = {"distilbert"},
      .gguf_types = {},
      .prefixes = {"", "distilbert."},
      .probe = "embeddings.word_embeddings.weight",
      .gguf_rules = {},
      .build = Build,
  };
  return record;
}

}  // namespace tboost::models
