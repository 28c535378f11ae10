#include "src/import/model_config.h"

#include <cmath>
#include <tuple>

#include "src/import/models/builder.h"

namespace tboost {
namespace {

// One field: where it lies in the struct, its names in config.json (the first found counts), its
// GGUF key after the architecture prefix, and whether a model cannot do without it.
template <class T>
struct Field {
  T ModelConfig::*member;
  std::vector<std::string_view> hf;
  std::string_view gguf;
  bool required = false;
};

const std::vector<Field<int64_t>>& IntegerFields() {
  using C = ModelConfig;
  static const std::vector<Field<int64_t>> fields = {
      {&C::vocab_size, {"vocab_size"}, "vocab_size"},
      {&C::hidden_size, {"hidden_size", "dim"}, "embedding_length", true},
      {&C::intermediate_size, {"intermediate_size", "hidden_dim"}, "feed_forward_length", true},
      {&C::num_hidden_layers, {"num_hidden_layers", "n_layers"}, "block_count", true},
      {&C::num_attention_heads, {"num_attention_heads", "n_heads"}, "attention.head_count", true},
      {&C::num_key_value_heads, {"num_key_value_heads"}, "attention.head_count_kv"},
      {&C::head_dim, {"head_dim"}, "attention.key_length"},
      {&C::max_position_embeddings, {"max_position_embeddings"}, "context_length", true},
      {&C::type_vocab_size, {"type_vocab_size"}, "token_type_count"},
      {&C::pad_token_id, {"pad_token_id"}, "pad_token_id"},
      {&C::sliding_window, {"sliding_window"}, "attention.sliding_window"},
      {&C::sliding_window_pattern,
       {"sliding_window_pattern", "_sliding_window_pattern"},
       "attention.sliding_window_pattern"},
  };
  return fields;
}

const std::vector<Field<double>>& RealFields() {
  using C = ModelConfig;
  static const std::vector<Field<double>> fields = {
      {&C::norm_eps, {"rms_norm_eps", "layer_norm_eps"}, "attention.layer_norm_rms_epsilon"},
      {&C::norm_eps, {}, "attention.layer_norm_epsilon"},
      {&C::rope_theta, {"rope_theta"}, "rope.freq_base"},
      {&C::rope_local_theta, {"rope_local_base_freq"}, "rope.local.freq_base"},
      {&C::query_pre_attn_scalar, {"query_pre_attn_scalar"}, "attention.query_pre_attn_scalar"},
  };
  return fields;
}

template <class T>
Status ReadHfFields(const std::vector<Field<T>>& fields, const Json& json, std::string_view name,
                    ModelConfig& config) {
  for (const Field<T>& field : fields) {
    bool found = false;
    for (std::string_view key : field.hf) {
      if (found || !json.contains(key) || json.at(std::string(key)).is_null()) continue;
      TBOOST_ASSIGN_OR_RETURN(config.*field.member, JsonRequire<T>(json, key, name));
      found = true;
    }
    if (!found && field.required) return CorruptError("{}: {} is missing", name, field.hf[0]);
  }
  return OkStatus();
}

template <class T>
Status ReadGgufFields(const std::vector<Field<T>>& fields, const GgufMetadata& metadata,
                      std::string_view arch, ModelConfig& config) {
  for (const Field<T>& field : fields) {
    const std::string key = fmt::format("{}.{}", arch, field.gguf);
    if (field.required) {
      TBOOST_ASSIGN_OR_RETURN(config.*field.member, metadata.Require<T>(key));
    } else if (metadata.Find(key)) {
      TBOOST_ASSIGN_OR_RETURN(config.*field.member, metadata.Get<T>(key, T{}));
    }
  }
  return OkStatus();
}

// The rope parameters of one layer kind: an object with rope_theta and rope_type, as newer files
// give it in rope_parameters, or older ones in rope_scaling.
Status ReadRope(const Json& rope, std::string_view name, double& theta, RopeScaling& scaling) {
  if (!rope.is_object()) return OkStatus();
  TBOOST_ASSIGN_OR_RETURN(theta, JsonGet<double>(rope, "rope_theta", theta, name));
  TBOOST_ASSIGN_OR_RETURN(std::string kind, JsonGet<std::string>(rope, "rope_type", "", name));
  if (kind.empty()) {
    TBOOST_ASSIGN_OR_RETURN(kind, JsonGet<std::string>(rope, "type", "default", name));
  }
  if (kind == "default") return OkStatus();
  if (kind != "linear" && kind != "llama3")
    return UnsupportedError("{}: rope_type \"{}\" (supported: default, linear, llama3)", name,
                            kind);
  scaling.kind = kind;
  TBOOST_ASSIGN_OR_RETURN(scaling.factor, JsonRequire<double>(rope, "factor", name));
  if (kind == "linear") return OkStatus();
  TBOOST_ASSIGN_OR_RETURN(scaling.low_freq_factor,
                          JsonRequire<double>(rope, "low_freq_factor", name));
  TBOOST_ASSIGN_OR_RETURN(scaling.high_freq_factor,
                          JsonRequire<double>(rope, "high_freq_factor", name));
  TBOOST_ASSIGN_OR_RETURN(scaling.original_context,
                          JsonRequire<double>(rope, "original_max_position_embeddings", name));
  return OkStatus();
}

Status ReadHfRope(const Json& json, std::string_view name, ModelConfig& config) {
  const Json none;
  const Json& older = json.contains("rope_scaling") ? json.at("rope_scaling") : none;
  TBOOST_RETURN_IF_ERROR(ReadRope(older, name, config.rope_theta, config.rope_scaling));
  if (!json.contains("rope_parameters")) return OkStatus();
  const Json& rope = json.at("rope_parameters");
  if (!rope.is_object() || !rope.contains("full_attention"))
    return ReadRope(rope, name, config.rope_theta, config.rope_scaling);
  TBOOST_RETURN_IF_ERROR(
      ReadRope(rope.at("full_attention"), name, config.rope_theta, config.rope_scaling));
  if (!rope.contains("sliding_attention")) return OkStatus();
  RopeScaling local;
  return ReadRope(rope.at("sliding_attention"), name, config.rope_local_theta, local);
}

// Which layers slide: by an explicit list, else by the pattern.
Status ReadLayerTypes(const Json& json, std::string_view name, ModelConfig& config) {
  if (!json.contains("layer_types") || !json.at("layer_types").is_array()) return OkStatus();
  const Json& types = json.at("layer_types");
  if (static_cast<int64_t>(types.size()) != config.num_hidden_layers)
    return CorruptError("{}: layer_types has {} entries, num_hidden_layers is {}", name,
                        types.size(), config.num_hidden_layers);
  for (const Json& type : types) {
    if (type != "sliding_attention" && type != "full_attention")
      return UnsupportedError("{}: layer type {} (supported: full_attention, sliding_attention)",
                              name, type.dump());
    config.sliding_layers.push_back(type == "sliding_attention");
  }
  return OkStatus();
}

// What files of an architecture leave unsaid. An unknown one ends the reading here: nothing is
// known of its fields.
Status SetDefaults(std::string_view name, ModelConfig& config) {
  TBOOST_ASSIGN_OR_RETURN(const ModelRecord* record,
                          FindModel(config.model_type, config.gguf, name));
  config.norm_eps = record->generates ? 1e-6 : 1e-12;
  if (config.model_type != "gemma3" && config.model_type != "gemma3_text") return OkStatus();
  config.sliding_window_pattern = 6;
  config.rope_theta = 1e6;
  config.rope_local_theta = 1e4;
  return OkStatus();
}

// Fills what follows from other fields and checks that the sizes make sense.
Status Finish(std::string_view name, ModelConfig& config) {
  if (config.num_key_value_heads == 0) config.num_key_value_heads = config.num_attention_heads;
  if (config.sliding_window < 0) config.sliding_window = 0;
  constexpr int64_t kMostLayers = 1 << 12, kMost = 1 << 24;
  const std::tuple<std::string_view, int64_t, int64_t> sizes[] = {
      {"hidden_size", config.hidden_size, kMost},
      {"intermediate_size", config.intermediate_size, kMost},
      {"num_hidden_layers", config.num_hidden_layers, kMostLayers},
      {"num_attention_heads", config.num_attention_heads, kMost},
      {"num_key_value_heads", config.num_key_value_heads, kMost},
      {"max_position_embeddings", config.max_position_embeddings, kMost}};
  for (const auto& [field, value, most] : sizes)
    if (value < 1 || value > most)
      return CorruptError("{}: {} is {}, expected 1 to {}", name, field, value, most);
  if (config.pad_token_id < -1 || config.pad_token_id > kMost)
    return CorruptError("{}: pad_token_id is {}, expected -1 to {}", name, config.pad_token_id,
                        kMost);
  if (config.head_dim == 0) config.head_dim = config.hidden_size / config.num_attention_heads;
  if (config.head_dim < 8 || config.head_dim > 512 || config.head_dim % 8 != 0)
    return UnsupportedError("{}: head_dim is {} (supported: multiples of 8 from 8 to 512)", name,
                            config.head_dim);
  if (config.num_attention_heads % config.num_key_value_heads != 0)
    return CorruptError("{}: num_attention_heads {} is no multiple of num_key_value_heads {}", name,
                        config.num_attention_heads, config.num_key_value_heads);
  if (!(config.norm_eps > 0 && config.norm_eps < 1))
    return CorruptError("{}: the epsilon of norms is {}, expected between 0 and 1", name,
                        config.norm_eps);
  if (!(config.rope_theta > 0) || !std::isfinite(config.rope_theta))
    return CorruptError("{}: rope_theta is {}", name, config.rope_theta);
  if (config.sliding_layers.empty()) {
    for (int64_t i = 0; i < config.num_hidden_layers; ++i) {
      const int64_t n = config.sliding_window_pattern;
      config.sliding_layers.push_back(config.sliding_window > 0 && (n <= 0 || (i + 1) % n != 0));
    }
  }
  return OkStatus();
}

}  // namespace

Result<ModelConfig> ConfigFromHf(const Json& config, std::string_view name) {
  if (config.contains("text_config") && config.at("text_config").is_object())
    return ConfigFromHf(config.at("text_config"), name);
  ModelConfig out;
  TBOOST_ASSIGN_OR_RETURN(out.model_type, JsonRequire<std::string>(config, "model_type", name));
  TBOOST_RETURN_IF_ERROR(SetDefaults(name, out));
  TBOOST_RETURN_IF_ERROR(ReadHfFields(IntegerFields(), config, name, out));
  TBOOST_RETURN_IF_ERROR(ReadHfFields(RealFields(), config, name, out));
  for (std::string_view key : {"hidden_act", "hidden_activation", "activation"}) {
    if (!out.hidden_act.empty()) break;
    TBOOST_ASSIGN_OR_RETURN(out.hidden_act, JsonGet<std::string>(config, key, "", name));
  }
  TBOOST_ASSIGN_OR_RETURN(
      const std::string positions,
      JsonGet<std::string>(config, "position_embedding_type", "absolute", name));
  if (positions != "absolute")
    return UnsupportedError("{}: position_embedding_type \"{}\" (supported: absolute)", name,
                            positions);
  TBOOST_RETURN_IF_ERROR(ReadHfRope(config, name, out));
  TBOOST_RETURN_IF_ERROR(ReadLayerTypes(config, name, out));
  TBOOST_ASSIGN_OR_RETURN(const bool use_window, JsonGet<bool>(config, "use_sliding_window",
                                                               out.model_type != "qwen2", name));
  if (!use_window) out.sliding_window = 0;
  TBOOST_RETURN_IF_ERROR(Finish(name, out));
  return out;
}

Result<ModelConfig> ConfigFromGguf(const GgufMetadata& metadata, std::string_view name) {
  ModelConfig out;
  out.gguf = true;
  TBOOST_ASSIGN_OR_RETURN(const std::string_view arch,
                          metadata.Require<std::string_view>("general.architecture"));
  out.model_type = arch;
  TBOOST_RETURN_IF_ERROR(SetDefaults(name, out));
  TBOOST_RETURN_IF_ERROR(ReadGgufFields(IntegerFields(), metadata, arch, out));
  TBOOST_RETURN_IF_ERROR(ReadGgufFields(RealFields(), metadata, arch, out));
  if (out.vocab_size == 0) {
    TBOOST_ASSIGN_OR_RETURN(const GgufArray tokens,
                            metadata.Require<GgufArray>("tokenizer.ggml.tokens"));
    out.vocab_size = static_cast<int64_t>(tokens.size);
  }
  TBOOST_ASSIGN_OR_RETURN(
      const std::string_view scaling,
      metadata.Get<std::string_view>(fmt::format("{}.rope.scaling.type", arch), "none"));
  if (scaling == "linear") {
    out.rope_scaling.kind = "linear";
    TBOOST_ASSIGN_OR_RETURN(out.rope_scaling.factor,
                            metadata.Require<double>(fmt::format("{}.rope.scaling.factor", arch)));
  } else if (scaling != "none") {
    return UnsupportedError("{}: rope scaling \"{}\" (supported: none, linear)", name, scaling);
  }
  TBOOST_RETURN_IF_ERROR(Finish(name, out));
  return out;
}

}  // namespace tboost
