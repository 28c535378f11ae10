#include "src/import/models/builder.h"

#include <cmath>

#include "src/graph/recipe_builders.h"
#include "src/ops/activation.h"
#include "src/ops/attention.h"
#include "src/ops/embedding.h"
#include "src/ops/layer_norm.h"
#include "src/ops/ops.h"
#include "src/ops/positions.h"
#include "src/ops/rms_norm.h"
#include "src/ops/rope.h"
#include "src/ops/rope_angles.h"

namespace tboost {
namespace {

ValueType TokensOf(DType dtype) {
  return {ValueType::Kind::kTensor, dtype, {Dim::Symbol("tokens")}};
}

}  // namespace

void ModelBuilder::Fail(Status status) {
  if (status_.ok()) status_ = std::move(status);
}

void ModelBuilder::SetPrefix(std::string prefix) {
  graph.SetProvenance(prefix);
  prefix_ = prefix.empty() ? "" : prefix + ".";
}

ValueId ModelBuilder::Input(std::string_view name, ValueType type) {
  const ValueId found = graph.FindValue(name);
  return found != kNone ? found : graph.AddInput(std::string(name), std::move(type));
}

ValueId ModelBuilder::InputIds() { return Input("input_ids", TokensOf(DType::kI32)); }
ValueId ModelBuilder::TokenTypeIds() { return Input("token_type_ids", TokensOf(DType::kI32)); }

ValueId ModelBuilder::OutputRows() {
  return Input("output_rows", {ValueType::Kind::kTensor, DType::kI32, {Dim::Symbol("outputs")}});
}

ValueId ModelBuilder::Layout() {
  return Input(
      "layout",
      {ValueType::Kind::kLayout, DType::kF32, {Dim::Symbol("tokens"), Dim::Symbol("sequences")}});
}

ValueId ModelBuilder::KvCache(int64_t layer, int64_t kv_heads, int64_t head_dim) {
  return Input(fmt::format("kv_cache.{}", layer),
               {ValueType::Kind::kKvCache, DType::kF32, {Dim(kv_heads), Dim(head_dim)}});
}

ValueId ModelBuilder::Constant(std::string_view name, Result<RecipePtr> recipe, bool vector) {
  if (!status_.ok()) return kNone;
  if (!recipe.ok()) return Fail(recipe.status()), kNone;
  const ValueId found = graph.FindValue(name);
  if (found != kNone) return found;
  const Recipe& r = **recipe;
  ValueType type{ValueType::Kind::kTensor, r.dtype, {Dim(r.columns)}};
  if (!vector) type.shape.insert(type.shape.begin(), Dim(r.rows));
  return graph.AddConstant(std::string(name), std::move(type), *std::move(recipe));
}

ValueId ModelBuilder::Node(const OpRecord& op, std::string_view name, std::vector<ValueId> inputs,
                           Attributes attributes) {
  if (!status_.ok()) return kNone;
  Result<ValueId> out = graph.Add(op, Full(name), std::move(inputs), std::move(attributes));
  if (!out.ok()) return Fail(out.status().WithContext(Full(name))), kNone;
  return *out;
}

ValueId ModelBuilder::Embedding(ValueId ids, std::string_view name, int64_t rows, double scale) {
  const std::string weight = Full(name) + ".weight";
  Result<RecipePtr> table = weights.Matrix(weight, rows, config.hidden_size);
  const ValueId constant = Constant(weight, std::move(table), false);
  return Node(ops::Embedding(), name, {constant, ids},
              MakeAttributes(ops::EmbeddingAttributes{.scale = scale}));
}

ValueId ModelBuilder::Linear(ValueId x, std::string_view name, int64_t out_features) {
  if (!status_.ok()) return kNone;
  const auto in_features = graph.value(x).type.shape.back().constant().value_or(0);
  return Linear(x, name, weights.Matrix(Full(name) + ".weight", out_features, in_features),
                in_features);
}

ValueId ModelBuilder::Linear(ValueId x, std::string_view name, Result<RecipePtr> weight,
                             int64_t in_features) {
  if (!status_.ok()) return kNone;
  if (!weight.ok()) return Fail(weight.status()), kNone;
  const Recipe& recipe = **weight;
  if (recipe.columns != in_features)
    return Fail(InternalError("{}: weight has {} inputs, x {}", Full(name), recipe.columns,
                              in_features)),
           kNone;
  const int64_t out_features = recipe.rows;
  const ValueId w = Constant(Full(name) + ".weight", std::move(weight), false);
  const std::string bias = Full(name) + ".bias";
  if (!weights.Has(bias)) return Node(ops::Linear(), name, {x, w, kNone});
  return Node(ops::Linear(), name,
              {x, w, Constant(bias, weights.Vector(bias, out_features), true)});
}

ValueId ModelBuilder::RotaryLinear(ValueId x, std::string_view name, int64_t heads, bool pairs) {
  if (!status_.ok() || !pairs) return Linear(x, name, heads * config.head_dim);
  if (weights.Has(Full(name) + ".bias"))
    return Fail(UnsupportedError("{}: a bias beside rows stored as pairs", Full(name))), kNone;
  Result<RecipePtr> weight =
      weights.Matrix(Full(name) + ".weight", heads * config.head_dim, config.hidden_size);
  if (weight.ok()) weight = RopeHalves(*std::move(weight), config.head_dim);
  return Linear(x, name, std::move(weight), config.hidden_size);
}

ValueId ModelBuilder::LayerNorm(ValueId x, std::string_view name) {
  const std::string gamma = Full(name) + ".weight", beta = Full(name) + ".bias";
  const ValueId g = Constant(gamma, weights.Vector(gamma, config.hidden_size), true);
  const ValueId b =
      weights.Has(beta) ? Constant(beta, weights.Vector(beta, config.hidden_size), true) : kNone;
  return Node(ops::LayerNorm(), name, {x, g, b},
              MakeAttributes(ops::LayerNormAttributes{.eps = config.norm_eps}));
}

ValueId ModelBuilder::RmsNorm(ValueId x, std::string_view name, bool plus_one, int64_t groups) {
  if (!status_.ok()) return kNone;
  const auto width = graph.value(x).type.shape.back().constant().value_or(0);
  const std::string gamma = Full(name) + ".weight";
  Result<RecipePtr> recipe = weights.Vector(gamma, width / groups);
  if (plus_one && recipe.ok()) recipe = AddScalar(*std::move(recipe), 1);
  return Node(ops::RmsNorm(), name, {x, Constant(gamma, std::move(recipe), true)},
              MakeAttributes(ops::RmsNormAttributes{.eps = config.norm_eps, .groups = groups}));
}

ValueId ModelBuilder::Add(ValueId x, ValueId y) { return Node(ops::Add(), "add", {x, y}); }
ValueId ModelBuilder::Mul(ValueId x, ValueId y) { return Node(ops::Mul(), "mul", {x, y}); }

ValueId ModelBuilder::Activation(ValueId x, kernels::Activation kind) {
  return Node(ops::Activation(), "act", {x},
              MakeAttributes(ops::ActivationAttributes{.kind = kind}));
}

ValueId ModelBuilder::RopeAngles(double theta, const RopeScaling& scaling) {
  ops::RopeAnglesAttributes a;
  a.theta = theta;
  a.rotary_dim = config.head_dim;
  a.factor = scaling.factor;
  a.low_freq_factor = scaling.low_freq_factor;
  a.high_freq_factor = scaling.high_freq_factor;
  a.original_context = scaling.original_context;
  if (scaling.kind == "linear") a.scaling = ops::RopeScaling::kLinear;
  if (scaling.kind == "llama3") a.scaling = ops::RopeScaling::kLlama3;
  // GGUF files of stretched models carry a factor for each frequency.
  const std::string factors = "rope_freqs.weight";
  const ValueId f = weights.Has(factors)
                        ? Constant(factors, weights.Vector(factors, config.head_dim / 2), true)
                        : kNone;
  return Node(ops::RopeAngles(), "rope_angles", {Layout(), f}, MakeAttributes(a));
}

ValueId ModelBuilder::Rope(ValueId x, ValueId angles, int64_t heads) {
  return Node(ops::Rope(), "rope", {x, angles},
              MakeAttributes(ops::RopeAttributes{.heads = heads, .head_dim = config.head_dim}));
}

ValueId ModelBuilder::Positions(int64_t first) {
  return Node(ops::Positions(), "positions", {Layout()},
              MakeAttributes(ops::PositionsAttributes{.offset = first}));
}

ValueId ModelBuilder::Attention(ValueId q, ValueId k, ValueId v) {
  ops::AttentionAttributes a;
  a.heads = config.num_attention_heads;
  a.kv_heads = config.num_key_value_heads;
  a.head_dim = config.head_dim;
  a.scale = 1 / std::sqrt(static_cast<double>(config.head_dim));
  return Node(ops::Attention(), "attention", {q, k, v, Layout()}, MakeAttributes(a));
}

ValueId ModelBuilder::CachedAttention(ValueId q, ValueId k, ValueId v, int64_t layer, double scale,
                                      int64_t window) {
  const ValueId cache = KvCache(layer, config.num_key_value_heads, config.head_dim);
  const ValueId written = Node(ops::KvWrite(), "kv_write", {k, v, Layout(), cache});
  ops::AttentionAttributes a;
  a.heads = config.num_attention_heads;
  a.kv_heads = config.num_key_value_heads;
  a.head_dim = config.head_dim;
  a.scale = scale;
  a.causal = true;
  a.window = window;
  return Node(ops::PagedAttention(), "attention", {q, written, Layout()}, MakeAttributes(a));
}

void ModelBuilder::Hidden(ValueId x) {
  if (status_.ok()) graph.MarkOutput("last_hidden_state", x);
}

ValueId ModelBuilder::SelectOutputs(ValueId x) {
  return Node(ops::SelectRows(), "outputs", {x, OutputRows()});
}

void ModelBuilder::Logits(ValueId x, std::string_view name, std::string_view tied) {
  const std::string head = fmt::format("{}.weight", name);
  ValueId logits;
  if (weights.Has(head)) {
    logits = Linear(x, name, config.vocab_size);
  } else {
    const ValueId table = graph.FindValue(fmt::format("{}.weight", tied));
    logits = Node(ops::Linear(), name, {x, table, kNone});
  }
  if (status_.ok()) graph.MarkOutput("logits", logits);
}

kernels::Activation ModelBuilder::HiddenActivation() {
  using kernels::Activation;
  static constexpr std::pair<std::string_view, kernels::Activation> kNames[] = {
      {"gelu", Activation::kGeluErf},
      {"gelu_new", Activation::kGeluTanh},
      {"gelu_pytorch_tanh", Activation::kGeluTanh},
      {"gelu_fast", Activation::kGeluTanh},
      {"quick_gelu", Activation::kGeluQuick},
      {"relu", Activation::kRelu},
      {"silu", Activation::kSilu},
      {"swish", Activation::kSilu},
      {"tanh", Activation::kTanh}};
  std::string_view act = config.hidden_act;
  // GGUF does not store it: it follows from the architecture.
  if (act.empty()) act = config.model_type == "bert" ? "gelu" : "silu";
  for (const auto& [known, kind] : kNames)
    if (known == act) return kind;
  Fail(UnsupportedError("hidden_act \"{}\" is not known", act));
  return Activation::kNone;
}

Result<const ModelRecord*> FindModel(std::string_view type, bool gguf, std::string_view file) {
  static const ModelRecord* const kRecords[] = {
#define TBOOST_MODEL(Name) &models::Name(),
#include "src/import/models/models.inc"
#undef TBOOST_MODEL
  };
  std::string known;
  for (const ModelRecord* record : kRecords) {
    for (std::string_view name : gguf ? record->gguf_types : record->hf_types) {
      if (name == type) return record;
      known += fmt::format("{}{}", known.empty() ? "" : ", ", name);
    }
  }
  return UnsupportedError("{}: architecture \"{}\" is not supported; supported: {}", file, type,
                          known);
}

}  // namespace tboost
