// Character classes, case and normal forms as tokenizers use them. All text is UTF-8. Thread-safe.
#pragma once

#include <string>
#include <string_view>

#include "src/base/utf8.h"

namespace tboost {

// Properties of one code point (Unicode's own names in brackets).
bool IsWhitespace(char32_t c);      // White_Space
bool IsPunctuation(char32_t c);     // ASCII punctuation and symbols, or general category P
bool IsNumeric(char32_t c);         // general category N
bool IsMark(char32_t c);            // general category M
bool IsNonspacingMark(char32_t c);  // general category Mn
bool IsControl(char32_t c);         // general categories Cc, Cf, Cs, Co
bool IsWordCharacter(char32_t c);  // Alphabetic, M, Nd, Pc, Join_Control: \w of regular expressions
bool IsCjkIdeograph(char32_t c);   // the blocks that BERT sets apart with spaces

// The code point at `*pos`; moves `*pos` behind it. `*pos` must be below the size.
inline char32_t NextCodePoint(std::string_view text, size_t* pos) {
  const auto byte = static_cast<unsigned char>(text[*pos]);
  if (byte < 0x80) {
    ++*pos;
    return byte;
  }
  const Utf8Step step = DecodeUtf8(text.substr(*pos));
  *pos += static_cast<size_t>(step.size);
  return step.code_point;
}

// Full lower case of each code point on its own (no final sigma, no language rules).
std::string Lowercase(std::string_view text);

enum class NormalForm { kNfc, kNfd, kNfkc, kNfkd };
std::string Normalize(NormalForm form, std::string_view text);

}  // namespace tboost
