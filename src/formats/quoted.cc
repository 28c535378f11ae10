#include "src/formats/quoted.h"

#include <fmt/format.h>

namespace tboost {

std::string Quoted(std::string_view text) {
  constexpr size_t kMaxBytes = 100;
  std::string out = "\"";
  for (const char c : text.substr(0, kMaxBytes)) {
    if (c < ' ' || c > '~') {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      if (c == '"' || c == '\\') out += '\\';
      out += c;
    }
  }
  if (text.size() > kMaxBytes) out += "...";
  return out + '"';
}

}  // namespace tboost
