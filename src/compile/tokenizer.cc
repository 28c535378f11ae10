#include "src/compile/tokenizer.h"

#include "src/text/tokenizer/tokenizer_builder.h"

namespace tboost {
namespace {

Result<std::string> FromFolder(const HfFolder& folder) {
  TBOOST_ASSIGN_OR_RETURN(const std::optional<Json> tokenizer, folder.ReadJson("tokenizer.json"));
  if (!tokenizer) return std::string();
  TBOOST_ASSIGN_OR_RETURN(const std::optional<Json> config, folder.ReadJson("tokenizer_config.json"));
  return BuildTokenizerFromJson(*tokenizer, config ? *config : Json());
}

// A string array of the metadata, copied.
Result<std::vector<std::string>> Strings(const GgufMetadata& metadata, std::string_view key) {
  TBOOST_ASSIGN_OR_RETURN(const GgufArray array, metadata.Get<GgufArray>(key, GgufArray{}));
  const std::vector<std::string_view> views = array.Strings();
  return std::vector<std::string>(views.begin(), views.end());
}

Status ReadIds(const GgufMetadata& metadata, GgufVocabulary& vocabulary) {
  const std::pair<std::string_view, int32_t*> ids[] = {{"bos", &vocabulary.bos},
                                                       {"eos", &vocabulary.eos},
                                                       {"eot", &vocabulary.eot},
                                                       {"unknown", &vocabulary.unknown},
                                                       {"padding", &vocabulary.pad}};
  for (const auto& [name, id] : ids) {
    const std::string key = fmt::format("tokenizer.ggml.{}_token_id", name);
    TBOOST_ASSIGN_OR_RETURN(const int64_t value, metadata.Get<int64_t>(key, -1));
    if (value < -1 || value >= static_cast<int64_t>(vocabulary.tokens.size()))
      return CorruptError("{} is {}, the vocabulary has {} tokens", key, value, vocabulary.tokens.size());
    *id = static_cast<int32_t>(value);
  }
  return OkStatus();
}

Result<std::string> FromGguf(const GgufMetadata& metadata) {
  GgufVocabulary vocabulary;
  TBOOST_ASSIGN_OR_RETURN(const std::string_view model,
                          metadata.Require<std::string_view>("tokenizer.ggml.model"));
  vocabulary.model = model;
  TBOOST_ASSIGN_OR_RETURN(const std::string_view pre,
                          metadata.Get<std::string_view>("tokenizer.ggml.pre", ""));
  vocabulary.pre = pre;
  TBOOST_ASSIGN_OR_RETURN(vocabulary.tokens, Strings(metadata, "tokenizer.ggml.tokens"));
  TBOOST_ASSIGN_OR_RETURN(vocabulary.merges, Strings(metadata, "tokenizer.ggml.merges"));
  TBOOST_ASSIGN_OR_RETURN(const GgufArray scores,
                          metadata.Get<GgufArray>("tokenizer.ggml.scores", GgufArray{}));
  for (double score : scores.Doubles()) vocabulary.scores.push_back(static_cast<float>(score));
  TBOOST_ASSIGN_OR_RETURN(const GgufArray types,
                          metadata.Get<GgufArray>("tokenizer.ggml.token_type", GgufArray{}));
  for (int64_t type : types.Integers()) vocabulary.types.push_back(static_cast<int32_t>(type));
  TBOOST_RETURN_IF_ERROR(ReadIds(metadata, vocabulary));
  // The flags' defaults are those of the tokenizer kinds: SentencePiece begins with bos and a space.
  const bool sentencepiece = vocabulary.model == "llama";
  TBOOST_ASSIGN_OR_RETURN(vocabulary.add_bos,
                          metadata.Get<bool>("tokenizer.ggml.add_bos_token", sentencepiece));
  TBOOST_ASSIGN_OR_RETURN(vocabulary.add_eos, metadata.Get<bool>("tokenizer.ggml.add_eos_token", false));
  TBOOST_ASSIGN_OR_RETURN(vocabulary.add_space_prefix,
                          metadata.Get<bool>("tokenizer.ggml.add_space_prefix", sentencepiece));
  return BuildTokenizerFromGguf(vocabulary);
}

}  // namespace

Result<std::string> BuildTokenizer(const ImportedModel& model) {
  Result<std::string> blob =
      model.folder ? FromFolder(*model.folder) : FromGguf(model.gguf->metadata);
  if (!blob.ok()) return blob.status().WithContext(model.path);
  return blob;
}

}  // namespace tboost
