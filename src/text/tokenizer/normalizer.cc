#include "src/text/tokenizer/normalizer.h"

#include <algorithm>
#include <vector>

#include "src/base/utf8.h"
#include "src/text/tokenizer/pattern.h"
#include "src/text/tokenizer/unicode.h"

namespace tboost {
namespace {

// Bytes that a replacement may produce from `size` bytes of text.
size_t MaxReplaced(size_t size) { return (size_t{64} << 20) + size * 16; }

std::string Filter(std::string_view text, bool (*drop)(char32_t)) {
  std::string out;
  out.reserve(text.size());
  for (size_t pos = 0; pos < text.size();) {
    const size_t begin = pos;
    if (!drop(NextCodePoint(text, &pos))) out += text.substr(begin, pos - begin);
  }
  return out;
}

std::string StripWhitespace(std::string_view text, bool left, bool right) {
  size_t begin = text.size(), end = 0;
  for (size_t pos = 0; pos < text.size();) {
    const size_t at = pos;
    if (IsWhitespace(NextCodePoint(text, &pos))) continue;
    begin = std::min(begin, at);
    end = pos;
  }
  if (!left) begin = 0;
  if (!right) end = text.size();
  return begin < end ? std::string(text.substr(begin, end - begin)) : std::string();
}

// Drops control characters and makes every whitespace a plain space.
std::string CleanText(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t pos = 0; pos < text.size();) {
    const char32_t c = NextCodePoint(text, &pos);
    const bool kept_control = c == '\t' || c == '\n' || c == '\r';
    if (!kept_control && (c == 0xFFFD || IsControl(c))) continue;
    AppendUtf8(IsWhitespace(c) ? U' ' : c, out);
  }
  return out;
}

std::string SetIdeographsApart(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t pos = 0; pos < text.size();) {
    const size_t begin = pos;
    const bool apart = IsCjkIdeograph(NextCodePoint(text, &pos));
    if (apart) out += ' ';
    out += text.substr(begin, pos - begin);
    if (apart) out += ' ';
  }
  return out;
}

Result<Normalizer> MakeBert(const Json& spec) {
  constexpr std::string_view kName = "BertNormalizer";
  TBOOST_ASSIGN_OR_RETURN(const bool clean, JsonGet<bool>(spec, "clean_text", true, kName));
  TBOOST_ASSIGN_OR_RETURN(const bool cjk, JsonGet<bool>(spec, "handle_chinese_chars", true, kName));
  TBOOST_ASSIGN_OR_RETURN(const bool lower, JsonGet<bool>(spec, "lowercase", true, kName));
  TBOOST_ASSIGN_OR_RETURN(const bool strip, JsonGet<bool>(spec, "strip_accents", lower, kName));
  return Normalizer([=](std::string_view text) -> Result<std::string> {
    std::string out(text);
    if (clean) out = CleanText(out);
    if (cjk) out = SetIdeographsApart(out);
    if (strip) out = Filter(Normalize(NormalForm::kNfd, out), IsNonspacingMark);
    if (lower) out = Lowercase(out);
    return out;
  });
}

template <NormalForm form>
Result<Normalizer> MakeForm(const Json&) {
  return Normalizer(
      [](std::string_view text) -> Result<std::string> { return Normalize(form, text); });
}

Result<Normalizer> MakeLowercase(const Json&) {
  return Normalizer([](std::string_view text) -> Result<std::string> { return Lowercase(text); });
}

Result<Normalizer> MakeStripAccents(const Json&) {
  return Normalizer(
      [](std::string_view text) -> Result<std::string> { return Filter(text, IsMark); });
}

Result<Normalizer> MakeStrip(const Json& spec) {
  TBOOST_ASSIGN_OR_RETURN(const bool left, JsonGet<bool>(spec, "strip_left", true, "Strip"));
  TBOOST_ASSIGN_OR_RETURN(const bool right, JsonGet<bool>(spec, "strip_right", true, "Strip"));
  return Normalizer([=](std::string_view text) -> Result<std::string> {
    return StripWhitespace(text, left, right);
  });
}

Result<Normalizer> MakePrepend(const Json& spec) {
  TBOOST_ASSIGN_OR_RETURN(const std::string prefix,
                          JsonRequire<std::string>(spec, "prepend", "Prepend"));
  return Normalizer([=](std::string_view text) -> Result<std::string> {
    return text.empty() ? std::string() : prefix + std::string(text);
  });
}

Result<Normalizer> MakeReplace(const Json& spec) {
  if (!spec.contains("pattern")) return CorruptError("Replace: no pattern");
  TBOOST_ASSIGN_OR_RETURN(const Pattern pattern, Pattern::FromJson(spec["pattern"], "Replace"));
  TBOOST_ASSIGN_OR_RETURN(const std::string content,
                          JsonRequire<std::string>(spec, "content", "Replace"));
  return Normalizer([=](std::string_view text) -> Result<std::string> {
    Pattern::Finder finder(pattern);
    TBOOST_ASSIGN_OR_RETURN(const auto* matches, finder.Find(text));
    if (matches->size() > MaxReplaced(text.size()) / std::max<size_t>(content.size(), 1)) {
      return ResourceExhaustedError("Replace: {} matches make more than {} bytes", matches->size(),
                                    MaxReplaced(text.size()));
    }
    std::string out;
    size_t done = 0;
    for (const TextRange& match : *matches) {
      out += text.substr(done, match.begin - done);
      out += content;
      done = match.end;
    }
    out += text.substr(done);
    return out;
  });
}

Result<Normalizer> MakeSequence(const Json& spec) {
  std::vector<Normalizer> steps;
  if (!spec.contains("normalizers") || !spec["normalizers"].is_array()) {
    return CorruptError("normalizer Sequence: \"normalizers\" must be an array");
  }
  for (const Json& step : spec["normalizers"]) {
    TBOOST_ASSIGN_OR_RETURN(Normalizer made, MakeNormalizer(step));
    if (made) steps.push_back(std::move(made));
  }
  return Normalizer([=](std::string_view text) -> Result<std::string> {
    std::string out(text);
    for (const Normalizer& step : steps) {
      TBOOST_ASSIGN_OR_RETURN(out, step(out));
    }
    return out;
  });
}

struct Entry {
  std::string_view type;
  Result<Normalizer> (*make)(const Json&);
};
constexpr Entry kNormalizers[] = {
    {"BertNormalizer", MakeBert},
    {"Lowercase", MakeLowercase},
    {"NFC", MakeForm<NormalForm::kNfc>},
    {"NFD", MakeForm<NormalForm::kNfd>},
    {"NFKC", MakeForm<NormalForm::kNfkc>},
    {"NFKD", MakeForm<NormalForm::kNfkd>},
    {"Prepend", MakePrepend},
    {"Replace", MakeReplace},
    {"Sequence", MakeSequence},
    {"Strip", MakeStrip},
    {"StripAccents", MakeStripAccents},
};

}  // namespace

Result<Normalizer> MakeNormalizer(const Json& spec) {
  if (spec.is_null()) return Normalizer();
  TBOOST_ASSIGN_OR_RETURN(const std::string type,
                          JsonRequire<std::string>(spec, "type", "normalizer"));
  for (const Entry& entry : kNormalizers) {
    if (entry.type == type) return entry.make(spec);
  }
  return UnsupportedError("normalizer: type \"{}\" is not supported", type);
}

}  // namespace tboost
