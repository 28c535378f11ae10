#include "src/compile/tokenizer.h"

#include "src/text/tokenizer/gguf_vocabulary.h"
#include "src/text/tokenizer/tokenizer_builder.h"

namespace tboost {
namespace {

Result<std::string> FromFolder(const HfFolder& folder) {
  TBOOST_ASSIGN_OR_RETURN(const std::optional<Json> tokenizer, folder.ReadJson("tokenizer.json"));
  if (!tokenizer) return std::string();
  TBOOST_ASSIGN_OR_RETURN(const std::optional<Json> config,
                          folder.ReadJson("tokenizer_config.json"));
  return BuildTokenizerFromJson(*tokenizer, config ? *config : Json());
}

Result<std::string> FromGguf(const GgufMetadata& metadata) {
  TBOOST_ASSIGN_OR_RETURN(const GgufVocabulary vocabulary, ReadGgufVocabulary(metadata));
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
