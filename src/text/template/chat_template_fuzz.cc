// Any template: text or an error with a line, in bounded time and memory.
#include <cstdlib>

#include "src/base/utf8.h"
#include "src/text/template/chat_template.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tboost;
  static const OrderedJson context = OrderedJson::parse(R"({
      "messages": [{"role": "system", "content": "be kind"}, {"role": "user", "content": "hé 😀\n"},
                   {"role": "assistant", "content": null, "tool_calls": [{"name": "f", "arguments": {"a": 1.5}}]}],
      "bos_token": "<s>", "add_generation_prompt": true})");
  const auto out = RenderChatTemplate({reinterpret_cast<const char*>(data), size}, context,
                                      {.max_cost = uint64_t{1} << 20, .now = 0});
  if (!IsValidUtf8(out.ok() ? *out : out.status().message())) std::abort();
  if (!out.ok() && out.status().message().starts_with("chat template, line 0")) std::abort();
  return 0;
}
