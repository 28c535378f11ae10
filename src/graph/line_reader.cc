#include "src/graph/line_reader.h"

#include <algorithm>

namespace tboost {

bool LineReader::done() {
  SkipSpaces();
  return rest_.empty();
}

bool LineReader::Take(std::string_view token) {
  SkipSpaces();
  if (!rest_.starts_with(token)) return false;
  rest_.remove_prefix(token.size());
  return true;
}

Status LineReader::Expect(std::string_view token) {
  return Take(token) ? OkStatus() : Unexpected(fmt::format("\"{}\"", token));
}

Status LineReader::Unexpected(std::string_view expected) const {
  return InvalidArgumentError("expected {}, found \"{}\"", expected, rest_.substr(0, 24));
}

Result<std::string_view> LineReader::Word(std::string_view expected) {
  SkipSpaces();
  const auto end =
      std::ranges::find_if_not(rest_, [](char c) { return text::IsNamePart(c) || c == '+'; });
  const std::string_view word(rest_.begin(), end);
  if (word.empty()) return Unexpected(expected);
  rest_.remove_prefix(word.size());
  return word;
}

Result<std::string> LineReader::Name() {
  SkipSpaces();
  if (rest_.starts_with('"')) return Quoted();
  TBOOST_ASSIGN_OR_RETURN(const std::string_view word, Word("a name"));
  return std::string(word);
}

Result<std::string> LineReader::Quoted() {
  TBOOST_RETURN_IF_ERROR(Expect("\""));
  std::string out;
  while (!rest_.empty()) {
    size_t length = 1;
    std::optional<char> c = rest_[0];
    if (c == '"') {
      rest_.remove_prefix(1);
      return out;
    }
    if (rest_.starts_with("\\x")) {
      c = HexByte(rest_.substr(2, 2));
      length = 4;
    } else if (c == '\\') {
      const bool known = rest_.starts_with("\\\"") || rest_.starts_with("\\\\");
      c = known ? std::optional(rest_[1]) : std::nullopt;
      length = 2;
    }
    if (!c) return Unexpected("an escape of a quoted text");
    out += *c;
    rest_.remove_prefix(length);
  }
  return InvalidArgumentError("a quoted text has no end");
}

Result<std::string_view> LineReader::Until(std::string_view ends, std::string_view expected) {
  SkipSpaces();
  const size_t length = rest_.find_first_of(ends);
  if (length == std::string_view::npos) return Unexpected(expected);
  const std::string_view out = rest_.substr(0, length);
  rest_.remove_prefix(length);
  return out;
}

std::optional<char> LineReader::HexByte(std::string_view digits) {
  unsigned char byte = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), byte, 16);
  if (digits.size() != 2 || error != std::errc() || end != digits.data() + 2) return std::nullopt;
  return static_cast<char>(byte);
}

void LineReader::SkipSpaces() {
  while (rest_.starts_with(' ')) rest_.remove_prefix(1);
}

}  // namespace tboost
