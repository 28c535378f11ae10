// Values as text: as Python prints them, and as JSON.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "src/base/utf8.h"
#include "src/text/template/ast.h"
#include "src/text/tokenizer/unicode.h"

namespace tboost::chat {
namespace {

// The shortest digits that read back as `number`, as Python writes them.
std::string PrintReal(double number) {
  const std::string text = fmt::format("{}", number);
  const bool whole = text.find_first_not_of("-0123456789") == text.npos;
  return whole ? text + ".0" : text;
}

std::string Quote(std::string_view text) {
  const bool use_double = text.find('\'') != text.npos && text.find('"') == text.npos;
  const char quote = use_double ? '"' : '\'';
  std::string out(1, quote);
  for (size_t pos = 0; pos < text.size();) {
    const char32_t c = NextCodePoint(text, &pos);
    if (c == static_cast<unsigned char>(quote) || c == '\\') {
      out += '\\';
      out += static_cast<char>(c);
    } else if (c == '\n' || c == '\r' || c == '\t') {
      out += c == '\n' ? "\\n" : c == '\r' ? "\\r" : "\\t";
    } else if (c < 0x20 || (c >= 0x7F && c < 0xA1) || c == 0xAD) {
      out += fmt::format("\\x{:02x}", static_cast<uint32_t>(c));
    } else if (IsControl(c) || (c >= 0x80 && IsWhitespace(c))) {
      out += c < 0x10000 ? fmt::format("\\u{:04x}", static_cast<uint32_t>(c))
                         : fmt::format("\\U{:08x}", static_cast<uint32_t>(c));
    } else {
      AppendUtf8(c, out);
    }
  }
  return out + quote;
}

std::string JsonText(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    static constexpr std::string_view kEscaped = "\"\\\n\r\t\b\f", kLetters = "\"\\nrtbf";
    const size_t at = kEscaped.find(c);
    if (at != kEscaped.npos) {
      out += '\\';
      out += kLetters[at];
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

struct JsonStyle {
  int64_t indent;
  bool sort_keys;
};

void AppendJson(const Value& value, const JsonStyle& style, int64_t level, std::string* out);

// `count` members between brackets, each written by `member`.
template <class Member>
void AppendMembers(std::string_view brackets, size_t count, const JsonStyle& style, int64_t level,
                   Member member, std::string* out) {
  const auto newline = [&](int64_t at) {
    if (style.indent < 0) return;
    *out += '\n';
    out->append(static_cast<size_t>(style.indent * at), ' ');
  };
  *out += brackets[0];
  for (size_t i = 0; i < count; ++i) {
    if (i > 0) *out += style.indent < 0 ? ", " : ",";
    newline(level + 1);
    member(i);
  }
  if (count > 0) newline(level);
  *out += brackets[1];
}

std::string JsonKey(const Value& key) {
  if (key.text() != nullptr) return *key.text();
  if (key.Is<bool>()) return key.integer() ? "true" : "false";
  if (key.is_none()) return "null";
  if (key.is_number()) return Print(key);
  throw TemplateError{"a key of type " + std::string(key.TypeName()) + " is no JSON"};
}

void AppendJson(const Value& value, const JsonStyle& style, int64_t level, std::string* out) {
  if (value.is_none()) {
    *out += "null";
  } else if (value.Is<bool>()) {
    *out += value.integer() ? "true" : "false";
  } else if (value.is_float() && !std::isfinite(value.real())) {
    *out += std::isnan(value.real()) ? "NaN" : value.real() > 0 ? "Infinity" : "-Infinity";
  } else if (value.is_number()) {
    *out += Print(value);
  } else if (value.text() != nullptr) {
    *out += JsonText(*value.text());
  } else if (const ListData* list = value.list()) {
    AppendMembers(
        "[]", list->items.size(), style, level,
        [&](size_t i) { AppendJson(list->items[i], style, level + 1, out); }, out);
  } else if (const DictData* dict = value.dict()) {
    std::vector<std::pair<std::string, const Value*>> members;
    for (const auto& [key, item] : dict->items) members.emplace_back(JsonKey(key), &item);
    if (style.sort_keys) {
      std::sort(members.begin(), members.end(),
                [](const auto& a, const auto& b) { return a.first < b.first; });
    }
    AppendMembers(
        "{}", members.size(), style, level,
        [&](size_t i) {
          *out += JsonText(members[i].first) + ": ";
          AppendJson(*members[i].second, style, level + 1, out);
        },
        out);
  } else {
    throw TemplateError{"a value of type " + std::string(value.TypeName()) + " is no JSON"};
  }
}

}  // namespace

std::string Print(const Value& value) {
  if (value.is_undefined()) return {};
  return value.text() != nullptr ? *value.text() : Represent(value);
}

std::string Represent(const Value& value) {
  if (value.is_none()) return "None";
  if (value.Is<bool>()) return value.integer() ? "True" : "False";
  if (value.is_float()) return PrintReal(value.real());
  if (value.is_number()) return std::to_string(value.integer());
  if (value.text() != nullptr) return Quote(*value.text());
  std::string out;
  if (const ListData* list = value.list()) {
    for (const Value& item : list->items) out += (out.empty() ? "" : ", ") + Represent(item);
    if (list->tuple) return list->items.size() == 1 ? "(" + out + ",)" : "(" + out + ")";
    return "[" + out + "]";
  }
  if (const DictData* dict = value.dict()) {
    for (const auto& [key, item] : dict->items) {
      out += (out.empty() ? "" : ", ") + Represent(key) + ": " + Represent(item);
    }
    return "{" + out + "}";
  }
  return value.is_undefined() ? "Undefined" : "<" + std::string(value.TypeName()) + ">";
}

std::string ToJson(const Value& value, int64_t indent, bool sort_keys) {
  std::string out;
  AppendJson(value, {indent, sort_keys}, 0, &out);
  return out;
}

}  // namespace tboost::chat
