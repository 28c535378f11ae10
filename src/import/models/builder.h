// What an architecture builder gets and how it registers: one file in this folder and one line of
// models.inc (docs/adding_a_model.md).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/graph/graph.h"
#include "src/import/model_config.h"
#include "src/import/weights.h"
#include "src/kernels/kernels.h"

namespace tboost {

// Adds operators to a graph under Hugging Face tensor names: `Linear(x, "mlp.up_proj", n)` reads
// "mlp.up_proj.weight" and, where the file has it, "mlp.up_proj.bias". Builders chain calls without
// checking each: after the first failure every call does nothing and `status()` tells.
class ModelBuilder {
 public:
  ModelBuilder(const ModelConfig& config, WeightSource& weights, Graph& graph)
      : config(config), weights(weights), graph(graph) {}

  const ModelConfig& config;
  WeightSource& weights;
  Graph& graph;

  const Status& status() const { return status_; }

  // Inputs that every model of a kind has; each is added on first use.
  ValueId InputIds();
  ValueId TokenTypeIds();
  ValueId OutputRows();
  ValueId Layout();
  ValueId KvCache(int64_t layer, int64_t kv_heads, int64_t head_dim);

  // The names of values and tensors from here on start with `prefix` + "."; also their provenance.
  void SetPrefix(std::string prefix);

  ValueId Embedding(ValueId ids, std::string_view name, int64_t rows, double scale = 1);
  ValueId Linear(ValueId x, std::string_view name, int64_t out_features);
  // The same from a recipe: for weights that need a transform or are tied.
  ValueId Linear(ValueId x, std::string_view name, Result<RecipePtr> weight, int64_t in_features);
  // q or k of a model with rotary embeddings: GGUF files of some architectures store the rows of a
  // head as pairs, which become halves here.
  ValueId RotaryLinear(ValueId x, std::string_view name, int64_t heads, bool pairs);
  ValueId LayerNorm(ValueId x, std::string_view name);
  // `plus_one`: the file stores the weight less one. `groups`: heads that are normalised each
  // alone.
  ValueId RmsNorm(ValueId x, std::string_view name, bool plus_one = false, int64_t groups = 1);
  ValueId Add(ValueId x, ValueId y);
  ValueId Mul(ValueId x, ValueId y);
  ValueId Activation(ValueId x, kernels::Activation kind);
  ValueId RopeAngles(double theta, const RopeScaling& scaling);
  ValueId Rope(ValueId x, ValueId angles, int64_t heads);
  // Self attention over all tokens of each sequence.
  ValueId Attention(ValueId q, ValueId k, ValueId v);
  // Writes k and v to the layer's cache and attends causally; `window` 0 sees everything.
  ValueId CachedAttention(ValueId q, ValueId k, ValueId v, int64_t layer, double scale,
                          int64_t window);
  // Positions of the tokens within their sequences, from `first` on.
  ValueId Positions(int64_t first);
  // x becomes the graph's output "last_hidden_state".
  void Hidden(ValueId x);
  // The rows of x whose logits are wanted: what comes after a model's layers runs on these alone.
  ValueId SelectOutputs(ValueId x);
  // x projected to the vocabulary by `name` or, where the file has none, by the embedding `tied`;
  // becomes the graph's output "logits".
  void Logits(ValueId x, std::string_view name, std::string_view tied);

  // The activation that config.hidden_act names.
  kernels::Activation HiddenActivation();

 private:
  ValueId Input(std::string_view name, ValueType type);
  ValueId Constant(std::string_view name, Result<RecipePtr> recipe, bool vector);
  ValueId Node(const OpRecord& op, std::string_view name, std::vector<ValueId> inputs,
               Attributes attributes = {});
  std::string Full(std::string_view name) const { return prefix_ + std::string(name); }
  void Fail(Status status);

  std::string prefix_;
  Status status_;
};

// One architecture: what files call it and how it is built.
struct ModelRecord {
  std::string_view name;
  std::vector<std::string_view> hf_types;    // config.json's model_type
  std::vector<std::string_view> gguf_types;  // general.architecture
  bool generates = false;                    // gives "logits"; else "last_hidden_state"
  // Prefixes that Hugging Face files may put before the names used here, and a tensor that tells.
  std::vector<std::string_view> prefixes;
  std::string_view probe;
  std::vector<NameRule> gguf_rules;
  void (*build)(ModelBuilder& builder) = nullptr;
};

namespace models {
#define TBOOST_MODEL(Name) const ModelRecord& Name();
#include "src/import/models/models.inc"
#undef TBOOST_MODEL
}  // namespace models

// The record for a model type; kUnsupported names the type and lists what there is.
Result<const ModelRecord*> FindModel(std::string_view type, bool gguf, std::string_view file);

}  // namespace tboost
