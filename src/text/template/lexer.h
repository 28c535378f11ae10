// A template's source as tokens, white space around tags already treated (trim_blocks,
// lstrip_blocks, the - and + signs, raw blocks, comments).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tboost::chat {

enum class TokenKind {
  kText,
  kVariableBegin,
  kVariableEnd,
  kBlockBegin,
  kBlockEnd,
  kName,
  kString,
  kInteger,
  kFloat,
  kOperator,
  kEnd
};

struct Token {
  TokenKind kind;
  std::string text;
  int line;
};

// The last token is kEnd. Throws TemplateError.
std::vector<Token> LexTemplate(std::string_view source);

// Python's str.isspace() for one code point.
bool IsPythonSpace(char32_t c);
// `text` without white space at its ends.
std::string_view StripLeft(std::string_view text);
std::string_view StripRight(std::string_view text);

}  // namespace tboost::chat
