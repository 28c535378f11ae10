#include "src/text/template/text_functions.h"

#include <unicode/locid.h>
#include <unicode/uchar.h>
#include <unicode/unistr.h>

#include <algorithm>

#include "src/base/utf8.h"
#include "src/text/template/lexer.h"
#include "src/text/tokenizer/unicode.h"

namespace tboost::chat {

int64_t CountCharacters(std::string_view text) {
  return std::count_if(text.begin(), text.end(),
                       [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
}

std::string UpperText(std::string_view text) {
  std::string out;
  icu::UnicodeString::fromUTF8(icu::StringPiece(text.data(), static_cast<int32_t>(text.size())))
      .toUpper(icu::Locale::getRoot())
      .toUTF8String(out);
  return out;
}

std::string LowerText(std::string_view text) {
  std::string out;
  icu::UnicodeString::fromUTF8(icu::StringPiece(text.data(), static_cast<int32_t>(text.size())))
      .toLower(icu::Locale::getRoot())
      .toUTF8String(out);
  return out;
}

std::string Capitalize(std::string_view text) {
  size_t first = 0;
  if (text.empty()) return {};
  NextCodePoint(text, &first);
  return UpperText(text.substr(0, first)) + LowerText(text.substr(first));
}

std::string Title(std::string_view text) {
  std::string out;
  bool inside = false;
  for (size_t pos = 0; pos < text.size();) {
    const char32_t c = NextCodePoint(text, &pos);
    const auto cased = static_cast<UChar32>(c);
    AppendUtf8(static_cast<char32_t>(inside ? u_tolower(cased) : u_totitle(cased)), out);
    inside = u_isalpha(cased);
  }
  return out;
}

std::string StripText(std::string_view text, const std::optional<std::string>& chars, bool left,
                      bool right) {
  if (!chars) {
    if (left) text = StripLeft(text);
    return std::string(right ? StripRight(text) : text);
  }
  const auto in_chars = [&](std::string_view c) { return chars->find(c) != chars->npos; };
  while (left && !text.empty()) {
    size_t size = 0;
    NextCodePoint(text, &size);
    if (!in_chars(text.substr(0, size))) break;
    text.remove_prefix(size);
  }
  while (right && !text.empty()) {
    size_t at = text.size() - 1;
    while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) --at;
    if (!in_chars(text.substr(at))) break;
    text = text.substr(0, at);
  }
  return std::string(text);
}

std::vector<std::string> SplitText(std::string_view text, std::string_view separator, int64_t limit,
                                   bool from_right) {
  std::vector<std::string> out;
  while (limit < 0 || static_cast<int64_t>(out.size()) < limit) {
    const size_t at = from_right ? text.rfind(separator) : text.find(separator);
    if (at == text.npos) break;
    if (from_right) {
      out.emplace_back(text.substr(at + separator.size()));
      text = text.substr(0, at);
    } else {
      out.emplace_back(text.substr(0, at));
      text.remove_prefix(at + separator.size());
    }
  }
  out.emplace_back(text);
  if (from_right) std::reverse(out.begin(), out.end());
  return out;
}

std::vector<std::string> SplitSpaces(std::string_view text, int64_t limit) {
  std::vector<std::string> out;
  for (text = StripLeft(text); !text.empty(); text = StripLeft(text)) {
    if (limit >= 0 && static_cast<int64_t>(out.size()) == limit) {
      out.emplace_back(text);
      break;
    }
    size_t end = 0;
    for (size_t pos = 0; pos < text.size(); end = pos) {
      if (IsPythonSpace(NextCodePoint(text, &pos))) break;
    }
    out.emplace_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return out;
}

Value ReplaceText(Interpreter& interpreter, std::string_view text, std::string_view from,
                  std::string_view to, int64_t limit) {
  if (from.empty()) throw TemplateError{"replace of an empty string is not supported"};
  interpreter.ChargeSearch(text, from);
  std::string out;
  size_t done = 0;
  for (int64_t count = 0; limit < 0 || count < limit; ++count) {
    const size_t at = text.find(from, done);
    if (at == text.npos) break;
    interpreter.Charge(to.size() + 1);
    out += text.substr(done, at - done);
    out += to;
    done = at + from.size();
  }
  out += text.substr(done);
  return interpreter.Text(std::move(out));
}

}  // namespace tboost::chat
