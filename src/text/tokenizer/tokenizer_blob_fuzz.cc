// Any bytes as a tokenizer's blob: an error, or ids within the vocabulary.
#include <cstdlib>

#include "src/text/detokenizer.h"
#include "src/text/tokenizer/tokenizer.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tboost;
  const auto tokenizer = Tokenizer::Open({reinterpret_cast<const char*>(data), size});
  if (!tokenizer.ok()) return 0;
  const auto ids = tokenizer->Encode("the word <mask>  x \xC3\xBC\xE4\xB8\xAD 12\n\xFF");
  if (!ids.ok()) return 0;
  const auto whole = tokenizer->Decode(*ids, false);
  if (!whole.ok()) std::abort();
  Detokenizer detokenizer(*tokenizer, false);
  std::string streamed;
  for (const int32_t id : *ids) streamed += *detokenizer.Push(id);
  streamed += detokenizer.Flush();
  if (streamed != *whole) std::abort();
  return 0;
}
