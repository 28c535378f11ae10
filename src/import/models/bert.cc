// BERT and RoBERTa: post-norm encoders. They differ in where positions start and in names.
#include "src/import/models/builder.h"

namespace tboost::models {
namespace {

ValueId Layer(ModelBuilder& b, ValueId h) {
  const ModelConfig& c = b.config;
  const ValueId q = b.Linear(h, "attention.self.query", c.hidden_size);
  const ValueId k = b.Linear(h, "attention.self.key", c.hidden_size);
  const ValueId v = b.Linear(h, "attention.self.value", c.hidden_size);
  ValueId x = b.Linear(b.Attention(q, k, v), "attention.output.dense", c.hidden_size);
  h = b.LayerNorm(b.Add(x, h), "attention.output.LayerNorm");
  x = b.Activation(b.Linear(h, "intermediate.dense", c.intermediate_size), b.HiddenActivation());
  x = b.Linear(x, "output.dense", c.hidden_size);
  return b.LayerNorm(b.Add(x, h), "output.LayerNorm");
}

void BuildFrom(ModelBuilder& b, int64_t first_position) {
  const ModelConfig& c = b.config;
  ValueId h = b.Embedding(b.InputIds(), "embeddings.word_embeddings", c.vocab_size);
  if (c.type_vocab_size > 0)
    h = b.Add(h,
              b.Embedding(b.TokenTypeIds(), "embeddings.token_type_embeddings", c.type_vocab_size));
  h = b.Add(h, b.Embedding(b.Positions(first_position), "embeddings.position_embeddings",
                           c.max_position_embeddings));
  h = b.LayerNorm(h, "embeddings.LayerNorm");
  for (int64_t layer = 0; layer < c.num_hidden_layers; ++layer) {
    b.SetPrefix(fmt::format("encoder.layer.{}", layer));
    h = Layer(b, h);
  }
  b.SetPrefix("");
  b.Hidden(h);
}

}  // namespace

const ModelRecord& Bert() {
  static const ModelRecord record = {
      .name = "bert",
      .hf_types = {"bert"},
      .gguf_types = {"bert"},
      .prefixes = {"", "bert."},
      .probe = "embeddings.word_embeddings.weight",
      .gguf_rules = {},
      .build = [](ModelBuilder& b) { BuildFrom(b, 0); },
  };
  return record;
}

// Positions start after the padding id: the table's first rows belong to it.
const ModelRecord& Roberta() {
  static const ModelRecord record = {
      .name = "roberta",
      .hf_types = {"roberta", "xlm-roberta"},
      .gguf_types = {},
      .prefixes = {"", "roberta."},
      .probe = "embeddings.word_embeddings.weight",
      .gguf_rules = {},
      .build = [](ModelBuilder& b) { BuildFrom(b, b.config.pad_token_id + 1); },
  };
  return record;
}

}  // namespace tboost::models
