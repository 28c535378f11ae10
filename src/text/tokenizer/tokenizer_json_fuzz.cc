// Any tokenizer.json: an error, or a tokenizer that takes any text.
#include <cstdlib>

#include "src/base/utf8.h"
#include "src/text/tokenizer/tokenizer.h"
#include "src/text/tokenizer/tokenizer_builder.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tboost;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Result<Json> json = ParseJson(text, "fuzz");
  if (!json.ok()) return 0;
  const Result<std::string> blob = BuildTokenizerFromJson(*json, *json);
  if (!blob.ok()) {
    if (!IsValidUtf8(blob.status().message())) std::abort();
    return 0;
  }
  const Result<Tokenizer> tokenizer = Tokenizer::Open(*blob);
  if (!tokenizer.ok()) std::abort();  // the builder promises to give only what opens
  for (const std::string_view input :
       {"", "ab  c'd 12\n<s> \xC3\xBC\xE4\xB8\xAD\xFF", "\xF0\x9F\x98\x80 x"}) {
    const auto ids = tokenizer->Encode(input);
    if (ids.ok() && !tokenizer->Decode(*ids, false).ok()) std::abort();
  }
  return 0;
}
