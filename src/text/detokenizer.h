// Token ids to text while they are made.
#pragma once

#include <cstdint>
#include <string>

#include "src/base/status.h"
#include "src/text/tokenizer/tokenizer.h"

namespace tboost {

// One answer being decoded: what Push() and Flush() give, joined, is Tokenizer::Decode() of all
// ids. A code point comes out once it is whole; bytes that can be part of none come out as they
// are, and only Flush() gives up an unfinished one. The tokenizer must outlive it. Not thread-safe.
class Detokenizer {
 public:
  explicit Detokenizer(const Tokenizer& tokenizer, bool skip_special = true);
  // The text that `id` completes, maybe none. An id outside the vocabulary is an error and changes
  // nothing.
  Result<std::string> Push(int32_t id);
  // What was held back; then a new answer may begin.
  std::string Flush();

 private:
  const Tokenizer& tokenizer_;
  bool skip_special_;
  DecodeStream stream_;
  std::string held_;  // the start of a code point
};

}  // namespace tboost
