#include "src/import/settings.h"

#include <algorithm>

namespace tboost {
namespace {

// Pooling as sentence-transformers stores it: modules.json lists the stages, each in its own
// folder.
Status ReadPooling(const HfFolder& folder, std::string_view stage, Json& embedding) {
  const std::string file = fmt::format("{}/config.json", stage);
  TBOOST_ASSIGN_OR_RETURN(const std::optional<Json> pooling, folder.ReadJson(file));
  if (!pooling) return OkStatus();
  static constexpr std::pair<std::string_view, std::string_view> kModes[] = {
      {"pooling_mode_cls_token", "cls"},
      {"pooling_mode_mean_tokens", "mean"},
      {"pooling_mode_max_tokens", "max"},
      {"pooling_mode_lasttoken", "last"}};
  int chosen = 0;
  for (const auto& [key, kind] : kModes) {
    TBOOST_ASSIGN_OR_RETURN(const bool on, JsonGet<bool>(*pooling, key, false, file));
    if (on) embedding["pooling"] = kind, ++chosen;
  }
  if (chosen != 1)
    return UnsupportedError("{}/{}: {} pooling modes of mean, cls, max, last are on, expected 1",
                            folder.path, file, chosen);
  return OkStatus();
}

Status ReadEmbeddingModules(const HfFolder& folder, Json& embedding) {
  TBOOST_ASSIGN_OR_RETURN(const std::optional<Json> modules, folder.ReadJson("modules.json"));
  if (!modules) return OkStatus();
  embedding["normalize"] = false;
  if (!modules->is_array()) return CorruptError("{}/modules.json: not a list", folder.path);
  for (const Json& module : *modules) {
    if (!module.is_object())
      return CorruptError("{}/modules.json: an entry is no object", folder.path);
    TBOOST_ASSIGN_OR_RETURN(const std::string type,
                            JsonGet<std::string>(module, "type", "", "modules.json"));
    TBOOST_ASSIGN_OR_RETURN(const std::string path,
                            JsonGet<std::string>(module, "path", "", "modules.json"));
    if (type.ends_with("Pooling")) {
      TBOOST_RETURN_IF_ERROR(ReadPooling(folder, path, embedding));
    } else if (type.ends_with("Normalize")) {
      embedding["normalize"] = true;
    } else if (!type.ends_with("Transformer")) {
      return UnsupportedError(
          "{}/modules.json: module {} (supported: Transformer, Pooling, Normalize)", folder.path,
          type);
    }
  }
  return OkStatus();
}

Status ReadEmbedding(const ImportedModel& model, Json& embedding) {
  embedding = {{"pooling", "mean"}, {"normalize", true}, {"prompts", Json::object()}};
  const auto limit = model.settings.at("context_length").get<int64_t>();
  embedding["max_length"] = limit;
  if (!model.folder) return OkStatus();
  TBOOST_RETURN_IF_ERROR(ReadEmbeddingModules(*model.folder, embedding));
  TBOOST_ASSIGN_OR_RETURN(const std::optional<Json> sentence,
                          model.folder->ReadJson("sentence_bert_config.json"));
  if (sentence) {
    TBOOST_ASSIGN_OR_RETURN(
        const int64_t length,
        JsonGet<int64_t>(*sentence, "max_seq_length", limit, "sentence_bert_config.json"));
    embedding["max_length"] = std::clamp(length, std::min<int64_t>(2, limit), limit);
  }
  TBOOST_ASSIGN_OR_RETURN(const std::optional<Json> prompts,
                          model.folder->ReadJson("config_sentence_transformers.json"));
  if (prompts && prompts->contains("prompts") && prompts->at("prompts").is_object())
    embedding["prompts"] = prompts->at("prompts");
  return OkStatus();
}

// eos_token_id may be a number or a list.
void AddEosIds(const Json& source, Json& ids) {
  if (!source.is_object() || !source.contains("eos_token_id")) return;
  const Json& eos = source.at("eos_token_id");
  for (const Json& id : eos.is_array() ? eos : Json::array({eos}))
    if (id.is_number_integer() && std::find(ids.begin(), ids.end(), id) == ids.end())
      ids.push_back(id);
}

Status ReadHfGeneration(ImportedModel& model, Json& generation) {
  TBOOST_ASSIGN_OR_RETURN(const std::optional<Json> file,
                          model.folder->ReadJson("generation_config.json"));
  if (file) {
    AddEosIds(*file, generation["eos_token_ids"]);
    for (const char* key : {"temperature", "top_k", "top_p", "min_p", "repetition_penalty"})
      if (file->contains(key) && file->at(key).is_number()) generation[key] = file->at(key);
  }
  AddEosIds(model.folder->config, generation["eos_token_ids"]);
  TBOOST_ASSIGN_OR_RETURN(const std::optional<std::string> text,
                          model.folder->ReadText("chat_template.jinja"));
  if (text) model.chat_template = *text;
  TBOOST_ASSIGN_OR_RETURN(const std::optional<Json> tokenizer,
                          model.folder->ReadJson("tokenizer_config.json"));
  if (!text && tokenizer && tokenizer->contains("chat_template") &&
      tokenizer->at("chat_template").is_string())
    model.chat_template = tokenizer->at("chat_template").get<std::string>();
  return OkStatus();
}

Status ReadGgufGeneration(ImportedModel& model, Json& generation) {
  const GgufMetadata& metadata = model.gguf->metadata;
  for (const char* key : {"tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id"}) {
    TBOOST_ASSIGN_OR_RETURN(const int64_t id, metadata.Get<int64_t>(key, -1));
    if (id >= 0) generation["eos_token_ids"].push_back(id);
  }
  TBOOST_ASSIGN_OR_RETURN(const std::string_view text,
                          metadata.Get<std::string_view>("tokenizer.chat_template", ""));
  model.chat_template = text;
  return OkStatus();
}

}  // namespace

Status ReadSettings(ImportedModel& model) {
  const ModelConfig& config = model.config;
  int64_t context = config.max_position_embeddings;
  // The first rows of the table of positions belong to padding.
  if (model.architecture == "roberta") context -= config.pad_token_id + 1;
  if (context < 1)
    return CorruptError("{}: max_position_embeddings {} leaves no position after pad_token_id {}",
                        model.path, config.max_position_embeddings, config.pad_token_id);
  model.settings["context_length"] = context;
  if (!model.generates) return ReadEmbedding(model, model.settings["embedding"]);
  Json& generation = model.settings["generation"];
  generation["eos_token_ids"] = Json::array();
  return model.folder ? ReadHfGeneration(model, generation) : ReadGgufGeneration(model, generation);
}

}  // namespace tboost
