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
  // Reading a file of the folder names it; what is in it is named here.
  Result<std::string> blob = BuildTokenizerFromJson(*tokenizer, config ? *config : Json());
  if (!blob.ok()) return blob.status().WithContext(folder.path);
  return blob;
}

Result<std::string> FromGguf(const std::string& path, const GgufMetadata& metadata) {
  const Result<GgufVocabulary> vocabulary = ReadGgufVocabulary(metadata);
  if (!vocabulary.ok()) return vocabulary.status().WithContext(path);
  Result<std::string> blob = BuildTokenizerFromGguf(*vocabulary);
  if (!blob.ok()) return blob.status().WithContext(path);
  return blob;
}

}  // namespace

Result<std::string> BuildTokenizer(const ImportedModel& model) {
  return model.folder ? FromFolder(*model.folder) : FromGguf(model.path, model.gguf->metadata);
}

}  // namespace tboost
