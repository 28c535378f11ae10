#include "src/text/tokenizer/decoder.h"

#include <optional>
#include <utility>

#include "src/text/tokenizer/byte_map.h"

namespace tboost {
namespace {

using Kind = DecodeStep::Kind;

constexpr double kMaxGrowth = 1024;  // of a token's text by all replacements together

std::string ReplaceAll(std::string_view text, std::string_view from, std::string_view to) {
  std::string out;
  size_t done = 0;
  for (size_t at = text.find(from); at != text.npos; at = text.find(from, done)) {
    out += text.substr(done, at - done);
    out += to;
    done = at + from.size();
  }
  out += text.substr(done);
  return out;
}

// English spacing that WordPiece lost: applied to each token, in this order.
std::string CleanUp(std::string token) {
  static constexpr std::pair<std::string_view, std::string_view> kRules[] = {
      {" .", "."},   {" ?", "?"},     {" !", "!"},     {" ,", ","},
      {" ' ", "'"},  {" n't", "n't"}, {" 'm", "'m"},   {" do not", " don't"},
      {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"},
  };
  for (const auto& [from, to] : kRules) token = ReplaceAll(token, from, to);
  return token;
}

std::string Strip(std::string_view token, const DecodeStep& step) {
  for (size_t i = 0; i < step.start && token.starts_with(step.text); ++i) {
    token.remove_prefix(step.text.size());
  }
  for (size_t i = 0; i < step.stop && token.ends_with(step.text); ++i) {
    token.remove_suffix(step.text.size());
  }
  return std::string(token);
}

Result<DecodeStep> MakeWordPiece(const Json& spec) {
  DecodeStep step{.kind = Kind::kWordPiece, .text = {}, .replacement = {}};
  TBOOST_ASSIGN_OR_RETURN(step.text, JsonGet<std::string>(spec, "prefix", "##", "WordPiece"));
  TBOOST_ASSIGN_OR_RETURN(step.flag, JsonGet<bool>(spec, "cleanup", true, "WordPiece"));
  return step;
}

Result<DecodeStep> MakeMetaspace(const Json& spec) {
  DecodeStep step{.kind = Kind::kMetaspace, .text = {}, .replacement = " "};
  TBOOST_ASSIGN_OR_RETURN(step.text, JsonGet<std::string>(spec, "replacement", "▁", "Metaspace"));
  TBOOST_ASSIGN_OR_RETURN(const bool legacy,
                          JsonGet<bool>(spec, "add_prefix_space", true, "Metaspace"));
  TBOOST_ASSIGN_OR_RETURN(
      const std::string scheme,
      JsonGet<std::string>(spec, "prepend_scheme", legacy ? "always" : "never", "Metaspace"));
  step.flag = scheme != "never";
  if (step.text.empty()) return CorruptError("Metaspace: the replacement is empty");
  return step;
}

Result<DecodeStep> MakeReplace(const Json& spec) {
  DecodeStep step{.kind = Kind::kReplace, .text = {}, .replacement = {}};
  if (!spec.contains("pattern") || !spec["pattern"].is_object()) {
    return CorruptError("decoder Replace: no pattern");
  }
  if (!spec["pattern"].contains("String")) {
    return UnsupportedError("decoder Replace: only a pattern {{\"String\": ...}} is supported");
  }
  TBOOST_ASSIGN_OR_RETURN(step.text,
                          JsonRequire<std::string>(spec["pattern"], "String", "Replace"));
  TBOOST_ASSIGN_OR_RETURN(step.replacement, JsonRequire<std::string>(spec, "content", "Replace"));
  if (step.text.empty()) return CorruptError("decoder Replace: the pattern is empty");
  return step;
}

Result<DecodeStep> MakeStrip(const Json& spec) {
  DecodeStep step{.kind = Kind::kStrip, .text = {}, .replacement = {}};
  TBOOST_ASSIGN_OR_RETURN(step.text, JsonGet<std::string>(spec, "content", " ", "Strip"));
  TBOOST_ASSIGN_OR_RETURN(const int64_t start, JsonGet<int64_t>(spec, "start", 0, "Strip"));
  TBOOST_ASSIGN_OR_RETURN(const int64_t stop, JsonGet<int64_t>(spec, "stop", 0, "Strip"));
  if (start < 0 || stop < 0 || step.text.empty()) {
    return CorruptError("decoder Strip: content \"{}\", start {}, stop {}", step.text, start, stop);
  }
  step.start = static_cast<size_t>(start);
  step.stop = static_cast<size_t>(stop);
  return step;
}

Result<DecodeStep> MakeSuffix(const Json& spec) {
  DecodeStep step{.kind = Kind::kSuffix, .text = {}, .replacement = " "};
  TBOOST_ASSIGN_OR_RETURN(step.text, JsonGet<std::string>(spec, "suffix", "</w>", "BPEDecoder"));
  if (step.text.empty()) return CorruptError("BPEDecoder: the suffix is empty");
  return step;
}

template <Kind kind>
Result<DecodeStep> MakePlain(const Json&) {
  return DecodeStep{.kind = kind, .text = {}, .replacement = {}};
}

struct Entry {
  std::string_view type;
  Result<DecodeStep> (*make)(const Json&);
};
constexpr Entry kDecoders[] = {
    {"BPEDecoder", MakeSuffix},
    {"ByteFallback", MakePlain<Kind::kByteFallback>},
    {"ByteLevel", MakePlain<Kind::kByteLevel>},
    {"Fuse", MakePlain<Kind::kHold>},
    {"Metaspace", MakeMetaspace},
    {"Replace", MakeReplace},
    {"Strip", MakeStrip},
    {"WordPiece", MakeWordPiece},
};

Status AppendSteps(const Json& spec, std::vector<DecodeStep>* steps) {
  TBOOST_ASSIGN_OR_RETURN(const std::string type,
                          JsonRequire<std::string>(spec, "type", "decoder"));
  if (type == "Sequence") {
    if (!spec.contains("decoders") || !spec["decoders"].is_array()) {
      return CorruptError("decoder Sequence: \"decoders\" must be an array");
    }
    for (const Json& step : spec["decoders"]) TBOOST_RETURN_IF_ERROR(AppendSteps(step, steps));
    return OkStatus();
  }
  for (const Entry& entry : kDecoders) {
    if (entry.type != type) continue;
    TBOOST_ASSIGN_OR_RETURN(DecodeStep step, entry.make(spec));
    steps->push_back(std::move(step));
    return OkStatus();
  }
  return UnsupportedError("decoder: type \"{}\" is not supported", type);
}

// Fusing all tokens to one need not hold back the text where nothing follows, or only the removal
// of its beginning.
void StreamFusedSteps(std::vector<DecodeStep>* steps) {
  std::vector<DecodeStep>& list = *steps;
  if (!list.empty() && list.back().kind == Kind::kHold) list.pop_back();
  const size_t n = list.size();
  if (n >= 2 && list[n - 2].kind == Kind::kHold && list[n - 1].kind == Kind::kStrip &&
      list[n - 1].stop == 0) {
    list[n - 1].kind = Kind::kStripStart;
    list.erase(list.end() - 2);
  }
}

}  // namespace

Result<Decoder> Decoder::FromJson(const Json& spec) {
  Decoder decoder;
  if (spec.is_null()) {
    decoder.steps_.push_back({.kind = Kind::kJoin, .text = {}, .replacement = {}});
    return decoder;
  }
  TBOOST_RETURN_IF_ERROR(AppendSteps(spec, &decoder.steps_));
  double growth = 1;
  for (const DecodeStep& step : decoder.steps_) {
    const auto from = static_cast<double>(step.text.size()),
               to = static_cast<double>(step.replacement.size());
    if (to > from) growth *= to / from;
  }
  if (growth > kMaxGrowth)
    return UnsupportedError("decoder: replacements make text {} times longer", growth);
  StreamFusedSteps(&decoder.steps_);
  return decoder;
}

DecodeStream::DecodeStream(const Decoder& decoder) : decoder_(decoder) { Reset(); }

void DecodeStream::Reset() {
  states_.assign(decoder_.steps_.size(), State());
  for (size_t i = 0; i < states_.size(); ++i) states_[i].left = decoder_.steps_[i].start;
}

void DecodeStream::Push(std::string_view token, bool added, std::string* out) {
  Feed(0, std::string(token), added, out);
}

void DecodeStream::Feed(size_t index, std::string token, bool added, std::string* out) {
  if (index == decoder_.steps_.size()) {
    *out += token;
    return;
  }
  const DecodeStep& step = decoder_.steps_[index];
  State& state = states_[index];
  const bool first = std::exchange(state.first, false);
  switch (step.kind) {
    case Kind::kJoin:
      if (!first) token.insert(0, " ");
      break;
    case Kind::kByteLevel:
      if (!added) token = UnmapBytes(token);
      break;
    case Kind::kByteFallback:
      if (const std::optional<uint8_t> byte = ByteOfPiece(token); byte && !added)
        token.assign(1, static_cast<char>(*byte));
      break;
    case Kind::kWordPiece:
      if (!first && token.starts_with(step.text)) {
        token.erase(0, step.text.size());
      } else if (!first) {
        token.insert(0, " ");
      }
      if (step.flag) token = CleanUp(std::move(token));
      break;
    case Kind::kMetaspace:
      token = ReplaceAll(token, step.text, first && step.flag ? "" : step.replacement);
      break;
    case Kind::kReplace:
      token = ReplaceAll(token, step.text, step.replacement);
      break;
    case Kind::kStrip:
      token = Strip(token, step);
      break;
    case Kind::kStripStart:
      for (; state.left > 0 && token.starts_with(step.text); --state.left) {
        token.erase(0, step.text.size());
      }
      if (!token.empty()) state.left = 0;
      break;
    case Kind::kSuffix:  // the last token has no space after it, so one is held back
      std::swap(token, state.held);
      token = ReplaceAll(token, step.text, step.replacement);
      break;
    case Kind::kHold:
      state.held += token;
      return;
  }
  if (step.kind == Kind::kSuffix && first) return;
  Feed(index + 1, std::move(token), added, out);
}

void DecodeStream::Finish(std::string* out) {
  for (size_t i = 0; i < states_.size(); ++i) {
    const DecodeStep& step = decoder_.steps_[i];
    if (states_[i].held.empty()) continue;
    std::string token = std::exchange(states_[i].held, {});
    if (step.kind == Kind::kSuffix) token = ReplaceAll(token, step.text, "");
    Feed(i + 1, std::move(token), false, out);
  }
  Reset();
}

}  // namespace tboost
