// Reading of the small text files of /sys and /proc.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "src/base/file.h"

namespace tboost {

inline std::string_view Trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\n\r");
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\n\r") + 1 - begin);
}

// The first word or line up to `delimiter`, which is taken off `rest` with it.
inline std::string_view TakeUntil(std::string_view& rest, char delimiter) {
  const size_t end = std::min(rest.find(delimiter), rest.size());
  const std::string_view head = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return head;
}

// The whole of `text` as a decimal number.
inline std::optional<int64_t> ParseDecimal(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// The file's text without surrounding white space; empty where it cannot be read.
inline std::string ReadSystemText(const std::string& path) {
  Result<std::string> text = ReadFile(path, uint64_t{4} << 20);
  return text.ok() ? std::string(Trimmed(*text)) : std::string();
}

// The text after `key` and `separator` on the line that starts with `key`; empty where there is
// none.
inline std::string_view LineValue(std::string_view text, std::string_view key, char separator) {
  while (!text.empty()) {
    std::string_view line = TakeUntil(text, '\n');
    if (line.substr(0, key.size()) != key) continue;
    const std::string_view name = Trimmed(TakeUntil(line, separator));
    if (name == key) return Trimmed(line);
  }
  return {};
}

}  // namespace tboost
