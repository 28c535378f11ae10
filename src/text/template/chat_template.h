// Chat templates: the Jinja that models' templates are written in.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "src/base/json.h"
#include "src/base/status.h"

namespace tboost {

struct ChatTemplateOptions {
  // Work a template may do: 32 per step and one per byte or element made.
  uint64_t max_cost = uint64_t{1} << 28;
  std::optional<int64_t> now;  // seconds since 1970 for strftime_now; absent: the clock
};

// `text` with the members of `context` (an object: messages, tools, add_generation_prompt,
// bos_token...) as variables; objects print in the order of their members. The result is what
// jinja2 gives with trim_blocks, lstrip_blocks and
// loop controls, undefined names empty, tojson without escapes. Left out: include, import, extends,
// block, call, recursive loops. Any failure is an error with the template's line: a syntax error or
// something left out, what the template raises itself (raise_exception), or work beyond the limits.
// Thread-safe.
Result<std::string> RenderChatTemplate(std::string_view text, const OrderedJson& context,
                                       const ChatTemplateOptions& options = {});

}  // namespace tboost
