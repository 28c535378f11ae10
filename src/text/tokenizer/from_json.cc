// tokenizer.json to a TokenizerSpec.
#include <unordered_map>

#include "src/text/tokenizer/compile.h"
#include "src/text/tokenizer/normalizer.h"
#include "src/text/tokenizer/tokenizer_builder.h"

namespace tboost {
namespace {

constexpr std::string_view kName = "tokenizer.json";

const Json& Member(const Json& object, const char* key) {
  static const Json kNull;
  if (!object.is_object()) return kNull;
  const auto found = object.find(key);
  return found == object.end() ? kNull : *found;
}

Status SetPiece(TokenizerSpec* spec, const std::string& piece, const Json& id, uint8_t flag) {
  if (!id.is_number_integer() || id < 0 || !spec->Reserve(id.get<uint64_t>())) {
    return CorruptError("{}: id of \"{}\" is {}", kName, piece, id.dump());
  }
  const auto index = id.get<uint64_t>();
  spec->pieces[index] = piece;
  spec->flags[index] |= flag;
  return OkStatus();
}

Status ReadUnigramVocabulary(const Json& vocabulary, TokenizerSpec* spec) {
  for (size_t id = 0; id < vocabulary.size(); ++id) {
    const Json& entry = vocabulary[id];
    if (!entry.is_array() || entry.size() != 2 || !entry[0].is_string() || !entry[1].is_number()) {
      return CorruptError("{}: vocab[{}] must be a piece and a score", kName, id);
    }
    TBOOST_RETURN_IF_ERROR(SetPiece(spec, entry[0].get<std::string>(), id, kTokenModel));
    spec->scores.push_back(entry[1].get<double>());
  }
  return OkStatus();
}

Status ReadVocabulary(const Json& model, TokenizerSpec* spec) {
  const Json& vocabulary = Member(model, "vocab");
  if (vocabulary.is_array()) return ReadUnigramVocabulary(vocabulary, spec);
  if (!vocabulary.is_object()) return CorruptError("{}: model.vocab must be an object", kName);
  for (const auto& [piece, id] : vocabulary.items()) {
    TBOOST_RETURN_IF_ERROR(SetPiece(spec, piece, id, kTokenModel));
  }
  return OkStatus();
}

Status ReadMerges(const Json& model, TokenizerSpec* spec) {
  const Json& merges = Member(model, "merges");
  if (merges.is_null()) return OkStatus();
  if (!merges.is_array()) return CorruptError("{}: model.merges must be an array", kName);
  TBOOST_ASSIGN_OR_RETURN(const std::string prefix,
                          JsonGet<std::string>(model, "continuing_subword_prefix", "", kName));
  MergeReader reader(spec, prefix.size());
  for (const Json& merge : merges) {
    const bool pair =
        merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string();
    if (pair) {
      TBOOST_RETURN_IF_ERROR(reader.Add(merge[0].get_ref<const std::string&>(),
                                        merge[1].get_ref<const std::string&>()));
    } else if (merge.is_string()) {
      TBOOST_RETURN_IF_ERROR(reader.Add(merge.get_ref<const std::string&>()));
    } else {
      return CorruptError("{}: merge {} must be two pieces", kName, spec->merges.size());
    }
  }
  return OkStatus();
}

Status ReadAddedTokens(const Json& tokens, const Json& normalizer_spec, TokenizerSpec* spec) {
  TBOOST_ASSIGN_OR_RETURN(const Normalizer normalizer, MakeNormalizer(normalizer_spec));
  struct Flag {
    std::string_view name;
    uint32_t flag;
  };
  static constexpr Flag kFlags[] = {{"special", kAddedSpecial},
                                    {"lstrip", kAddedLeftStrip},
                                    {"rstrip", kAddedRightStrip},
                                    {"single_word", kAddedSingleWord}};
  if (tokens.is_null()) return OkStatus();
  if (!tokens.is_array()) return CorruptError("{}: added_tokens must be an array", kName);
  for (const Json& entry : tokens) {
    AddedToken token;
    TBOOST_ASSIGN_OR_RETURN(token.text, JsonRequire<std::string>(entry, "content", kName));
    for (const Flag& flag : kFlags) {
      TBOOST_ASSIGN_OR_RETURN(const bool set, JsonGet<bool>(entry, flag.name, false, kName));
      if (set) token.flags |= flag.flag;
    }
    const bool special = (token.flags & kAddedSpecial) != 0;
    TBOOST_ASSIGN_OR_RETURN(token.normalized, JsonGet<bool>(entry, "normalized", !special, kName));
    const uint8_t flag = special ? kTokenAdded | kTokenSpecial : kTokenAdded;
    TBOOST_RETURN_IF_ERROR(SetPiece(spec, token.text, Member(entry, "id"), flag));
    token.id = entry["id"].get<uint32_t>();
    if (token.normalized && normalizer) {
      TBOOST_ASSIGN_OR_RETURN(token.text, normalizer(token.text));
    }
    spec->added.push_back(std::move(token));
  }
  return OkStatus();
}

// What a post-processor puts around a single text.
struct Around {
  Json before = Json::array(), after = Json::array();
};

Status ReadTemplate(const Json& spec, Around* around) {
  bool seen_text = false;
  for (const Json& part : Member(spec, "single")) {
    if (part.contains("Sequence")) {
      if (seen_text) return UnsupportedError("TemplateProcessing: the text stands twice");
      seen_text = true;
      continue;
    }
    TBOOST_ASSIGN_OR_RETURN(const std::string id,
                            JsonRequire<std::string>(Member(part, "SpecialToken"), "id", kName));
    const Json& ids = Member(Member(Member(spec, "special_tokens"), id.c_str()), "ids");
    if (!ids.is_array()) return CorruptError("TemplateProcessing: no ids for \"{}\"", id);
    for (const Json& token : ids) (seen_text ? around->after : around->before).push_back(token);
  }
  if (!seen_text) return UnsupportedError("TemplateProcessing: the template has no text");
  return OkStatus();
}

Status ReadPostProcessor(const Json& spec, Around* around) {
  if (spec.is_null()) return OkStatus();
  TBOOST_ASSIGN_OR_RETURN(const std::string type,
                          JsonRequire<std::string>(spec, "type", "post_processor"));
  if (type == "ByteLevel") return OkStatus();  // moves offsets only
  if (type == "TemplateProcessing") return ReadTemplate(spec, around);
  if (type == "BertProcessing" || type == "RobertaProcessing") {
    for (const auto& [key, list] :
         {std::pair("cls", &around->before), std::pair("sep", &around->after)}) {
      const Json& token = Member(spec, key);
      if (!token.is_array() || token.size() != 2) return CorruptError("{}: no {}", type, key);
      list->push_back(token[1]);
    }
    return OkStatus();
  }
  if (type == "Sequence") {
    for (const Json& step : Member(spec, "processors")) {
      TBOOST_RETURN_IF_ERROR(ReadPostProcessor(step, around));
    }
    return OkStatus();
  }
  return UnsupportedError("post_processor: type \"{}\" is not supported", type);
}

// Ids of the tokens that tokenizer_config.json names: each a string or {"content": string}.
Json SpecialIdsOf(const Json& config, const TokenizerSpec& spec) {
  std::unordered_map<std::string_view, uint32_t> ids;
  for (size_t id = 0; id < spec.pieces.size(); ++id)
    ids[spec.pieces[id]] = static_cast<uint32_t>(id);
  Json special = Json::object();
  Json end = Json::array();
  for (const char* name : {"bos", "eos", "unk", "pad"}) {
    const std::string key = std::string(name) + "_token";
    const Json& value = Member(config, key.c_str());
    const Json& text = value.is_object() ? Member(value, "content") : value;
    if (!text.is_string()) continue;
    const auto found = ids.find(text.get_ref<const std::string&>());
    if (found == ids.end()) continue;
    special[name] = found->second;
    if (name == std::string_view("eos")) end.push_back(found->second);
  }
  for (const AddedToken& token : spec.added) {
    if (EndsAnswer(token.text) && token.id != special.value("eos", int64_t{-1}))
      end.push_back(token.id);
  }
  special["end"] = std::move(end);
  return special;
}

Status ReadTruncation(const Json& truncation, Json* pipeline) {
  if (truncation.is_null()) return OkStatus();
  TBOOST_ASSIGN_OR_RETURN((*pipeline)["max_length"],
                          JsonGet<int64_t>(truncation, "max_length", 0, "truncation"));
  TBOOST_ASSIGN_OR_RETURN(const std::string direction,
                          JsonGet<std::string>(truncation, "direction", "Right", "truncation"));
  (*pipeline)["truncate_left"] = direction == "Left";
  return OkStatus();
}

}  // namespace

Result<std::string> BuildTokenizerFromJson(const Json& tokenizer, const Json& config) {
  if (!tokenizer.is_object()) return CorruptError("{}: not an object", kName);
  TokenizerSpec spec;
  const Json& model = Member(tokenizer, "model");
  TBOOST_RETURN_IF_ERROR(ReadVocabulary(model, &spec));
  TBOOST_RETURN_IF_ERROR(ReadMerges(model, &spec));
  TBOOST_RETURN_IF_ERROR(
      ReadAddedTokens(Member(tokenizer, "added_tokens"), Member(tokenizer, "normalizer"), &spec));
  Around around;
  TBOOST_RETURN_IF_ERROR(ReadPostProcessor(Member(tokenizer, "post_processor"), &around));
  for (const char* key : {"normalizer", "pre_tokenizer", "decoder"}) {
    spec.pipeline[key] = Member(tokenizer, key);
  }
  Json& options = spec.pipeline["model"] = Json::object();
  for (const auto& [key, value] : model.items()) {
    if (key != "vocab" && key != "merges") options[key] = value;
  }
  spec.pipeline["before"] = std::move(around.before);
  spec.pipeline["after"] = std::move(around.after);
  spec.pipeline["special"] = SpecialIdsOf(config, spec);
  TBOOST_RETURN_IF_ERROR(ReadTruncation(Member(tokenizer, "truncation"), &spec.pipeline));
  Result<std::string> blob = CompileTokenizer(spec);
  if (!blob.ok()) return blob.status().WithContext(kName);
  return blob;
}

}  // namespace tboost
