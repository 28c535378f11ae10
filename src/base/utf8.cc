#include "src/base/utf8.h"

#include <algorithm>

namespace tboost {
namespace {

bool InSegment(uint8_t byte, uint8_t low, uint8_t high) { return byte >= low && byte <= high; }

// What the first byte says: length of the sequence and the values allowed for the second byte,
// which is where overlong forms, surrogates and too large values show (Unicode, table 3-7).
struct Lead {
  int size;
  uint8_t second_low, second_high;
};

Lead ReadLead(uint8_t byte) {
  if (byte < 0x80) return {1, 0, 0};
  if (InSegment(byte, 0xC2, 0xDF)) return {2, 0x80, 0xBF};
  if (byte == 0xE0) return {3, 0xA0, 0xBF};
  if (byte == 0xED) return {3, 0x80, 0x9F};
  if (InSegment(byte, 0xE1, 0xEF)) return {3, 0x80, 0xBF};
  if (byte == 0xF0) return {4, 0x90, 0xBF};
  if (byte == 0xF4) return {4, 0x80, 0x8F};
  if (InSegment(byte, 0xF1, 0xF3)) return {4, 0x80, 0xBF};
  return {0, 0, 0};
}

}  // namespace

Utf8Step DecodeUtf8(std::string_view text) {
  if (text.empty()) return {};
  const uint8_t first = static_cast<uint8_t>(text[0]);
  const Lead lead = ReadLead(first);
  if (lead.size == 1) return {first, 1, true, false};
  if (lead.size == 0) return {kReplacementCharacter, 1, false, false};
  char32_t code_point = first & (0x7F >> lead.size);
  for (int i = 1; i < lead.size; ++i) {
    if (static_cast<size_t>(i) == text.size()) return {kReplacementCharacter, i, false, true};
    const uint8_t byte = static_cast<uint8_t>(text[i]);
    const bool fits =
        i == 1 ? InSegment(byte, lead.second_low, lead.second_high) : InSegment(byte, 0x80, 0xBF);
    if (!fits) return {kReplacementCharacter, i, false, false};
    code_point = code_point << 6 | (byte & 0x3F);
  }
  return {code_point, lead.size, true, false};
}

void AppendUtf8(char32_t code_point, std::string& text) {
  if (code_point > 0x10FFFF || (code_point >= 0xD800 && code_point <= 0xDFFF))
    code_point = kReplacementCharacter;
  const auto append = [&](char32_t byte) { text.push_back(static_cast<char>(byte)); };
  if (code_point < 0x80) return append(code_point);
  if (code_point < 0x800) {
    append(0xC0 | code_point >> 6);
  } else {
    if (code_point < 0x10000) {
      append(0xE0 | code_point >> 12);
    } else {
      append(0xF0 | code_point >> 18);
      append(0x80 | (code_point >> 12 & 0x3F));
    }
    append(0x80 | (code_point >> 6 & 0x3F));
  }
  append(0x80 | (code_point & 0x3F));
}

size_t ValidUtf8Prefix(std::string_view text) {
  size_t offset = 0;
  while (offset < text.size()) {
    const Utf8Step step = DecodeUtf8(text.substr(offset));
    if (!step.valid) break;
    offset += step.size;
  }
  return offset;
}

std::string ReplaceInvalidUtf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Utf8Step step = DecodeUtf8(text);
    AppendUtf8(step.code_point, out);
    text.remove_prefix(step.size);
  }
  return out;
}

std::string ShortenUtf8(std::string_view text, size_t bytes) {
  if (text.size() <= bytes) return std::string(text);
  size_t end = bytes - std::min<size_t>(bytes, 3);
  while (end > 0 && (static_cast<uint8_t>(text[end]) & 0xC0) == 0x80) --end;
  return std::string(text.substr(0, end)) + "...";
}

}  // namespace tboost
