// What filters and string methods share.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/text/template/interpreter.h"

namespace tboost::chat {

int64_t CountCharacters(std::string_view text);
std::string UpperText(std::string_view text);
std::string LowerText(std::string_view text);
std::string Capitalize(std::string_view text);
std::string Title(std::string_view text);  // upper case behind anything that is no letter
// Without the characters of `chars` (white space where absent) at the ends.
std::string StripText(std::string_view text, const std::optional<std::string>& chars, bool left,
                      bool right);
// At every `separator`, or at the first or last `limit` ones where that is not negative.
std::vector<std::string> SplitText(std::string_view text, std::string_view separator, int64_t limit,
                                   bool from_right);
std::vector<std::string> SplitSpaces(std::string_view text, int64_t limit);
// The first `limit` occurrences replaced; all where it is negative.
Value ReplaceText(Interpreter& interpreter, std::string_view text, std::string_view from,
                  std::string_view to, int64_t limit);

}  // namespace tboost::chat
