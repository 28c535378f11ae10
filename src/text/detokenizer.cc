#include "src/text/detokenizer.h"

#include <utility>

#include "src/base/utf8.h"

namespace tboost {
namespace {

// The size of the unfinished code point at the end of `text`.
size_t UnfinishedSize(std::string_view text) {
  constexpr size_t kMaxUnfinished = 3;
  for (size_t size = std::min(text.size(), kMaxUnfinished); size > 0; --size) {
    const Utf8Step step = DecodeUtf8(text.substr(text.size() - size));
    if (step.truncated && static_cast<size_t>(step.size) == size) return size;
  }
  return 0;
}

}  // namespace

Detokenizer::Detokenizer(const Tokenizer& tokenizer, bool skip_special)
    : tokenizer_(tokenizer), skip_special_(skip_special), stream_(tokenizer.decoder()) {}

Result<std::string> Detokenizer::Push(int32_t id) {
  if (id < 0 || static_cast<size_t>(id) >= tokenizer_.vocabulary_size()) {
    return OutOfRangeError("token id {} is outside the vocabulary of {}", id,
                           tokenizer_.vocabulary_size());
  }
  std::string text = std::exchange(held_, {});
  if (!(skip_special_ && tokenizer_.IsSpecial(id))) {
    stream_.Push(tokenizer_.Piece(id), tokenizer_.IsAdded(id), &text);
  }
  const size_t keep = UnfinishedSize(text);
  held_ = text.substr(text.size() - keep);
  text.resize(text.size() - keep);
  return text;
}

std::string Detokenizer::Flush() {
  std::string text = std::exchange(held_, {});
  stream_.Finish(&text);
  return text;
}

}  // namespace tboost
