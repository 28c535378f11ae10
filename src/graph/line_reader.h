// LineReader: reads one line of the graph's text form from left to right.
#pragma once

#include <charconv>
#include <optional>
#include <string>
#include <string_view>

#include "src/base/status.h"
#include "src/graph/text_tables.h"

namespace tboost {

// Does not own the line. Every function skips spaces first; failures tell what was expected and
// found.
class LineReader {
 public:
  explicit LineReader(std::string_view line) : rest_(line) {}

  bool done();
  // Whether `token` comes next; it is then read.
  bool Take(std::string_view token);
  Status Expect(std::string_view token);
  Status Unexpected(std::string_view expected) const;

  // A bare word: a name without quotes, an operator, a type, a number.
  Result<std::string_view> Word(std::string_view expected);
  // A word or a quoted text.
  Result<std::string> Name();
  Result<std::string> Quoted();
  // The text up to one of the characters `ends`, which must come on this line.
  Result<std::string_view> Until(std::string_view ends, std::string_view expected);

  template <class T>
  Result<T> Number(std::string_view expected) {
    TBOOST_ASSIGN_OR_RETURN(const std::string_view word, Word(expected));
    T value{};
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || end != word.data() + word.size())
      return InvalidArgumentError("expected {}, found \"{}\"", expected, word);
    return value;
  }

  // Items with commas between, then `end`; `item` reads one and gives a Status.
  template <class Item>
  Status List(std::string_view end, Item item) {
    if (Take(end)) return OkStatus();
    do {
      TBOOST_RETURN_IF_ERROR(item());
    } while (Take(","));
    return Expect(end);
  }

  // The byte of two hexadecimal digits.
  static std::optional<char> HexByte(std::string_view digits);

 private:
  void SkipSpaces();

  std::string_view rest_;
};

}  // namespace tboost
