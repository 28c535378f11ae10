#include "src/text/tokenizer/pre_tokenizer.h"

#include <algorithm>
#include <vector>

#include "src/text/tokenizer/byte_map.h"
#include "src/text/tokenizer/split.h"
#include "src/text/tokenizer/unicode.h"

namespace tboost {
namespace {

// How GPT-2 cuts text into words.
constexpr std::string_view kGpt2Words =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

PreTokenizer SplitStep(Pattern pattern, SplitBehavior behavior, bool invert = false) {
  return [pattern = std::move(pattern), behavior, invert](Pieces* pieces) {
    return Split(pattern, behavior, invert, pieces);
  };
}

Result<SplitBehavior> GetBehavior(const Json& spec, std::string_view fallback,
                                  std::string_view owner) {
  TBOOST_ASSIGN_OR_RETURN(const std::string name,
                          JsonGet<std::string>(spec, "behavior", std::string(fallback), owner));
  const std::optional<SplitBehavior> behavior = SplitBehaviorFromName(name);
  if (!behavior) return UnsupportedError("{}: behavior \"{}\" is not supported", owner, name);
  return *behavior;
}

Result<PreTokenizer> MakeBert(const Json&) {
  const Pattern space = Pattern::FromClass(IsWhitespace);
  const Pattern punctuation = Pattern::FromClass(IsPunctuation);
  return PreTokenizer([=](Pieces* pieces) -> Status {
    TBOOST_RETURN_IF_ERROR(Split(space, SplitBehavior::kRemoved, false, pieces));
    return Split(punctuation, SplitBehavior::kIsolated, false, pieces);
  });
}

Result<PreTokenizer> MakeByteLevel(const Json& spec) {
  TBOOST_ASSIGN_OR_RETURN(const bool prefix,
                          JsonGet<bool>(spec, "add_prefix_space", true, "ByteLevel"));
  TBOOST_ASSIGN_OR_RETURN(const bool use_regex,
                          JsonGet<bool>(spec, "use_regex", true, "ByteLevel"));
  TBOOST_ASSIGN_OR_RETURN(const Pattern words, Pattern::FromRegex(kGpt2Words));
  return PreTokenizer([=](Pieces* pieces) -> Status {
    if (prefix) {
      pieces->Rewrite([](const Span& span) { return span.open(); },
                      [](std::string_view text, size_t) {
                        const bool has = text.empty() || text.front() == ' ';
                        return (has ? "" : " ") + std::string(text);
                      });
    }
    if (use_regex) TBOOST_RETURN_IF_ERROR(Split(words, SplitBehavior::kIsolated, false, pieces));
    pieces->Rewrite([](const Span& span) { return span.token == kNoToken; },
                    [](std::string_view text, size_t) { return MapBytes(text); });
    return OkStatus();
  });
}

Result<PreTokenizer> MakeSplit(const Json& spec) {
  if (!spec.contains("pattern")) return CorruptError("Split: no pattern");
  TBOOST_ASSIGN_OR_RETURN(Pattern pattern, Pattern::FromJson(spec["pattern"], "Split"));
  TBOOST_ASSIGN_OR_RETURN(const SplitBehavior behavior, GetBehavior(spec, "", "Split"));
  TBOOST_ASSIGN_OR_RETURN(const bool invert, JsonGet<bool>(spec, "invert", false, "Split"));
  return SplitStep(std::move(pattern), behavior, invert);
}

Result<PreTokenizer> MakeWhitespace(const Json&) {
  const Pattern space = Pattern::FromClass(IsWhitespace);
  const Pattern word = Pattern::FromClass(IsWordCharacter);
  return PreTokenizer([=](Pieces* pieces) -> Status {
    TBOOST_RETURN_IF_ERROR(Split(space, SplitBehavior::kRemoved, false, pieces));
    return Split(word, SplitBehavior::kContiguous, false, pieces);
  });
}

Result<PreTokenizer> MakeWhitespaceSplit(const Json&) {
  return SplitStep(Pattern::FromClass(IsWhitespace), SplitBehavior::kRemoved);
}

Result<PreTokenizer> MakeDigits(const Json& spec) {
  TBOOST_ASSIGN_OR_RETURN(const bool single,
                          JsonGet<bool>(spec, "individual_digits", false, "Digits"));
  return SplitStep(Pattern::FromClass(IsNumeric),
                   single ? SplitBehavior::kIsolated : SplitBehavior::kContiguous);
}

Result<PreTokenizer> MakePunctuation(const Json& spec) {
  TBOOST_ASSIGN_OR_RETURN(const SplitBehavior behavior,
                          GetBehavior(spec, "Isolated", "Punctuation"));
  return SplitStep(Pattern::FromClass(IsPunctuation), behavior);
}

Result<PreTokenizer> MakeMetaspace(const Json& spec) {
  constexpr std::string_view kName = "Metaspace";
  TBOOST_ASSIGN_OR_RETURN(const std::string mark,
                          JsonGet<std::string>(spec, "replacement", "▁", kName));
  TBOOST_ASSIGN_OR_RETURN(const bool legacy, JsonGet<bool>(spec, "add_prefix_space", true, kName));
  TBOOST_ASSIGN_OR_RETURN(
      const std::string scheme,
      JsonGet<std::string>(spec, "prepend_scheme", legacy ? "always" : "never", kName));
  TBOOST_ASSIGN_OR_RETURN(const bool split, JsonGet<bool>(spec, "split", true, kName));
  if (scheme != "always" && scheme != "never" && scheme != "first") {
    return UnsupportedError("Metaspace: prepend_scheme \"{}\" is not supported", scheme);
  }
  constexpr size_t kMaxMark = 16;
  if (mark.size() > kMaxMark)
    return UnsupportedError("Metaspace: replacement of {} bytes", mark.size());
  const Json mark_spec = {{"String", mark}};
  TBOOST_ASSIGN_OR_RETURN(const Pattern marks, Pattern::FromJson(mark_spec, kName));
  const bool always = scheme == "always", first = scheme == "first";
  return PreTokenizer([=](Pieces* pieces) -> Status {
    pieces->Rewrite([](const Span& span) { return span.open(); },
                    [&](std::string_view text, size_t index) {
                      std::string out;
                      for (const char c : text) {
                        if (c == ' ') {
                          out += mark;
                        } else {
                          out += c;
                        }
                      }
                      const bool wanted = always || (first && index == 0);
                      return wanted && !out.starts_with(mark) ? mark + out : out;
                    });
    return split ? Split(marks, SplitBehavior::kMergedWithNext, false, pieces) : OkStatus();
  });
}

Result<PreTokenizer> MakeSequence(const Json& spec) {
  if (!spec.contains("pretokenizers") || !spec["pretokenizers"].is_array()) {
    return CorruptError("pre_tokenizer Sequence: \"pretokenizers\" must be an array");
  }
  std::vector<PreTokenizer> steps;
  for (const Json& step : spec["pretokenizers"]) {
    TBOOST_ASSIGN_OR_RETURN(PreTokenizer made, MakePreTokenizer(step));
    if (made) steps.push_back(std::move(made));
  }
  return PreTokenizer([=](Pieces* pieces) -> Status {
    for (const PreTokenizer& step : steps) TBOOST_RETURN_IF_ERROR(step(pieces));
    return OkStatus();
  });
}

struct Entry {
  std::string_view type;
  Result<PreTokenizer> (*make)(const Json&);
};
constexpr Entry kPreTokenizers[] = {
    {"BertPreTokenizer", MakeBert},
    {"ByteLevel", MakeByteLevel},
    {"Digits", MakeDigits},
    {"Metaspace", MakeMetaspace},
    {"Punctuation", MakePunctuation},
    {"Sequence", MakeSequence},
    {"Split", MakeSplit},
    {"Whitespace", MakeWhitespace},
    {"WhitespaceSplit", MakeWhitespaceSplit},
};

}  // namespace

Result<PreTokenizer> MakePreTokenizer(const Json& spec) {
  if (spec.is_null()) return PreTokenizer();
  TBOOST_ASSIGN_OR_RETURN(const std::string type,
                          JsonRequire<std::string>(spec, "type", "pre_tokenizer"));
  for (const Entry& entry : kPreTokenizers) {
    if (entry.type == type) return entry.make(spec);
  }
  return UnsupportedError("pre_tokenizer: type \"{}\" is not supported", type);
}

bool MapsBytes(const Json& spec) {
  if (!spec.is_object()) return false;
  const auto steps = spec.find("pretokenizers");
  if (steps != spec.end()) return std::any_of(steps->begin(), steps->end(), MapsBytes);
  const auto type = spec.find("type");
  return type != spec.end() && *type == "ByteLevel";
}

}  // namespace tboost
