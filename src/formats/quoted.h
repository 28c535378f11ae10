// Untrusted names in messages.
#pragma once

#include <string>
#include <string_view>

namespace tboost {

// `text` in double quotes, at most 100 bytes of it, everything but printable ASCII escaped.
std::string Quoted(std::string_view text);

}  // namespace tboost
