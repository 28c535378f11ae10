// UTF-8: decoding, encoding and validation of code points (RFC 3629).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tboost {

inline constexpr char32_t kReplacementCharacter = 0xFFFD;

// One step of a decoder.
struct Utf8Step {
  char32_t code_point = kReplacementCharacter;
  int size = 0;  // bytes taken; 0 only at the end of the text
  // False: `size` is the longest prefix that could have begun a code point (1-3).
  bool valid = false;
  bool truncated = false;  // invalid only because the text ends within the code point
};

// The code point at the start of `text`. Overlong forms, surrogates and values beyond U+10FFFF are
// invalid. One replacement character per invalid step is what Unicode recommends (and what Python
// and Rust do).
Utf8Step DecodeUtf8(std::string_view text);

// Appends `code_point`; kReplacementCharacter where it is a surrogate or beyond U+10FFFF.
void AppendUtf8(char32_t code_point, std::string& text);

// The offset of the first invalid byte, or text.size().
size_t ValidUtf8Prefix(std::string_view text);
inline bool IsValidUtf8(std::string_view text) { return ValidUtf8Prefix(text) == text.size(); }

// `text` with each invalid step replaced: for messages and for output that must be UTF-8.
std::string ReplaceInvalidUtf8(std::string_view text);

// At most `bytes` bytes of `text`, cut between code points; "..." marks a cut.
std::string ShortenUtf8(std::string_view text, size_t bytes);

}  // namespace tboost
