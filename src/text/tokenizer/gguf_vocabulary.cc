#include "src/text/tokenizer/gguf_vocabulary.h"

namespace tboost {
namespace {

std::string Key(std::string_view name) { return "tokenizer.ggml." + std::string(name); }

Result<std::vector<std::string>> GetStrings(const GgufMetadata& metadata, std::string_view name) {
  TBOOST_ASSIGN_OR_RETURN(const GgufArray array, metadata.Get<GgufArray>(Key(name), GgufArray()));
  if (array.size > 0 && array.type != GgufType::kString) {
    return CorruptError("{} must be an array of strings", Key(name));
  }
  const std::vector<std::string_view> views = array.Strings();
  return std::vector<std::string>(views.begin(), views.end());
}

template <class T>
Result<std::vector<T>> GetNumbers(const GgufMetadata& metadata, std::string_view name) {
  TBOOST_ASSIGN_OR_RETURN(const GgufArray array, metadata.Get<GgufArray>(Key(name), GgufArray()));
  const std::vector<double> numbers = array.Doubles();
  if (numbers.size() != array.size)
    return CorruptError("{} must be an array of numbers", Key(name));
  return std::vector<T>(numbers.begin(), numbers.end());
}

}  // namespace

Result<GgufVocabulary> ReadGgufVocabulary(const GgufMetadata& metadata) {
  GgufVocabulary out;
  TBOOST_ASSIGN_OR_RETURN(const std::string_view model,
                          metadata.Require<std::string_view>(Key("model")));
  TBOOST_ASSIGN_OR_RETURN(const std::string_view pre,
                          metadata.Get<std::string_view>(Key("pre"), std::string_view()));
  out.model = model;
  out.pre = pre;
  TBOOST_ASSIGN_OR_RETURN(out.tokens, GetStrings(metadata, "tokens"));
  TBOOST_ASSIGN_OR_RETURN(out.merges, GetStrings(metadata, "merges"));
  TBOOST_ASSIGN_OR_RETURN(out.scores, GetNumbers<float>(metadata, "scores"));
  TBOOST_ASSIGN_OR_RETURN(out.types, GetNumbers<int32_t>(metadata, "token_type"));
  const std::pair<std::string_view, int32_t*> ids[] = {{"bos_token_id", &out.bos},
                                                       {"eos_token_id", &out.eos},
                                                       {"eot_token_id", &out.eot},
                                                       {"unknown_token_id", &out.unknown},
                                                       {"padding_token_id", &out.pad}};
  for (const auto& [name, id] : ids) {
    TBOOST_ASSIGN_OR_RETURN(const int64_t value, metadata.Get<int64_t>(Key(name), -1));
    if (value < -1 || value > INT32_MAX) return CorruptError("{} is {}", Key(name), value);
    *id = static_cast<int32_t>(value);
  }
  const std::pair<std::string_view, std::optional<bool>*> switches[] = {
      {"add_bos_token", &out.add_bos},
      {"add_eos_token", &out.add_eos},
      {"add_space_prefix", &out.add_space_prefix}};
  for (const auto& [name, flag] : switches) {
    if (metadata.Find(Key(name)) == nullptr) continue;
    TBOOST_ASSIGN_OR_RETURN(*flag, metadata.Get<bool>(Key(name), false));
  }
  return out;
}

}  // namespace tboost
