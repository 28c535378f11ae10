// The vocabulary of a GGUF file to a TokenizerSpec.
#include "src/base/utf8.h"
#include "src/text/tokenizer/compile.h"
#include "src/text/tokenizer/gguf_pre_tokenizers.h"
#include "src/text/tokenizer/tokenizer_builder.h"

namespace tboost {
namespace {

Status ReadTokens(const GgufVocabulary& in, TokenizerSpec* spec) {
  constexpr size_t kMaxTokens = size_t{1} << 24;
  const size_t n = in.tokens.size();
  if (n == 0 || n > kMaxTokens) return UnsupportedError("GGUF tokenizer: {} tokens", n);
  if (!in.types.empty() && in.types.size() != n) {
    return CorruptError("GGUF tokenizer: {} tokens, {} types", n, in.types.size());
  }
  spec->pieces = in.tokens;
  spec->flags.resize(n);
  for (size_t id = 0; id < n; ++id) {
    const int32_t type = in.types.empty() ? kGgufNormal : in.types[id];
    if (type == kGgufNormal) spec->flags[id] = kTokenModel;
    if (type != kGgufControl && type != kGgufUserDefined) continue;
    const bool special = type == kGgufControl;
    spec->flags[id] = special ? kTokenAdded | kTokenSpecial : kTokenAdded;
    const uint32_t flags = special ? uint32_t{kAddedSpecial} : 0;
    spec->added.push_back({in.tokens[id], static_cast<uint32_t>(id), flags, false});
    if (special || in.model != "llama") continue;
    // SentencePiece looks for these where spaces are marks already.
    AddedToken& token = spec->added.back();
    token.normalized = true;
    for (size_t at = 0; (at = token.text.find(' ', at)) != token.text.npos;) {
      token.text.replace(at, 1, "▁");
    }
  }
  return OkStatus();
}

// `id` where it is in the vocabulary; a file that names another is corrupt.
Status SetSpecial(const GgufVocabulary& in, const char* name, int32_t id, Json* special) {
  if (id == -1) return OkStatus();
  if (id < 0 || static_cast<size_t>(id) >= in.tokens.size()) {
    return CorruptError("GGUF tokenizer: {} id {} is outside the vocabulary of {}", name, id,
                        in.tokens.size());
  }
  (*special)[name] = id;
  return OkStatus();
}

Status ReadSpecials(const GgufVocabulary& in, bool default_bos, TokenizerSpec* spec) {
  Json special = Json::object();
  TBOOST_RETURN_IF_ERROR(SetSpecial(in, "bos", in.bos, &special));
  TBOOST_RETURN_IF_ERROR(SetSpecial(in, "eos", in.eos, &special));
  TBOOST_RETURN_IF_ERROR(SetSpecial(in, "eot", in.eot, &special));
  TBOOST_RETURN_IF_ERROR(SetSpecial(in, "unk", in.unknown, &special));
  TBOOST_RETURN_IF_ERROR(SetSpecial(in, "pad", in.pad, &special));
  Json end = Json::array();
  for (const int32_t id : {in.eos, in.eot}) {
    if (id >= 0) end.push_back(id);
  }
  for (const AddedToken& token : spec->added) {
    const auto id = static_cast<int32_t>(token.id);
    if ((token.flags & kAddedSpecial) && EndsAnswer(token.text) && id != in.eos && id != in.eot) {
      end.push_back(id);
    }
  }
  special["end"] = std::move(end);
  spec->pipeline["special"] = std::move(special);
  if (in.add_bos.value_or(default_bos) && in.bos >= 0)
    spec->pipeline["before"] = Json::array({in.bos});
  if (in.add_eos.value_or(false) && in.eos >= 0) spec->pipeline["after"] = Json::array({in.eos});
  return OkStatus();
}

Status ReadByteLevel(const GgufVocabulary& in, TokenizerSpec* spec) {
  const std::string name = in.pre.empty() ? "default" : in.pre;
  const GgufPreTokenizer* pre = FindGgufPreTokenizer(name);
  if (pre == nullptr)
    return UnsupportedError("GGUF tokenizer: pre-tokenizer \"{}\" is not supported",
                            ReplaceInvalidUtf8(name));
  Json steps = Json::array();
  if (in.add_space_prefix.value_or(false)) {
    return UnsupportedError("GGUF tokenizer: add_space_prefix with a byte-level vocabulary");
  }
  for (const std::string_view pattern : pre->patterns) {
    steps.push_back(
        {{"type", "Split"}, {"pattern", {{"Regex", pattern}}}, {"behavior", "Isolated"}});
  }
  steps.push_back({{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", false}});
  Json& pipeline = spec->pipeline;
  pipeline["pre_tokenizer"] = {{"type", "Sequence"}, {"pretokenizers", std::move(steps)}};
  if (!pre->normalizer.empty()) pipeline["normalizer"] = {{"type", pre->normalizer}};
  pipeline["model"] = {{"type", "BPE"}, {"ignore_merges", pre->ignore_merges}};
  pipeline["decoder"] = {{"type", "ByteLevel"}};
  MergeReader merges(spec, 0);
  for (const std::string& line : in.merges) TBOOST_RETURN_IF_ERROR(merges.Add(line));
  return ReadSpecials(in, pre->add_bos, spec);
}

Status ReadSentencePiece(const GgufVocabulary& in, TokenizerSpec* spec) {
  if (in.scores.size() != in.tokens.size()) {
    return CorruptError("GGUF tokenizer: {} tokens, {} scores", in.tokens.size(), in.scores.size());
  }
  spec->scores.assign(in.scores.begin(), in.scores.end());
  const bool prefix = in.add_space_prefix.value_or(true);
  Json normal = Json::array(), decode = Json::array();
  if (prefix) normal.push_back({{"type", "Prepend"}, {"prepend", "▁"}});
  normal.push_back({{"type", "Replace"}, {"pattern", {{"String", " "}}}, {"content", "▁"}});
  decode.push_back({{"type", "Replace"}, {"pattern", {{"String", "▁"}}}, {"content", " "}});
  decode.push_back({{"type", "ByteFallback"}});
  if (prefix) {
    decode.push_back({{"type", "Fuse"}});
    decode.push_back({{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}});
  }
  Json& pipeline = spec->pipeline;
  pipeline["normalizer"] = {{"type", "Sequence"}, {"normalizers", std::move(normal)}};
  pipeline["decoder"] = {{"type", "Sequence"}, {"decoders", std::move(decode)}};
  pipeline["model"] = {{"type", "SentencePieceBpe"}, {"unk_id", in.unknown}};
  return ReadSpecials(in, true, spec);
}

}  // namespace

Result<std::string> BuildTokenizerFromGguf(const GgufVocabulary& in) {
  TokenizerSpec spec;
  TBOOST_RETURN_IF_ERROR(ReadTokens(in, &spec));
  if (in.model == "gpt2") {
    TBOOST_RETURN_IF_ERROR(ReadByteLevel(in, &spec));
  } else if (in.model == "llama") {
    TBOOST_RETURN_IF_ERROR(ReadSentencePiece(in, &spec));
  } else {
    return UnsupportedError("GGUF tokenizer: model \"{}\" is not supported (gpt2 and llama are)",
                            ReplaceInvalidUtf8(in.model));
  }
  Result<std::string> blob = CompileTokenizer(spec);
  if (!blob.ok()) return blob.status().WithContext("GGUF tokenizer");
  return blob;
}

}  // namespace tboost
