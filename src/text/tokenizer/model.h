// The models: a word to token ids.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "src/base/json.h"
#include "src/base/status.h"
#include "src/text/tokenizer/blob.h"

namespace tboost {

// Immutable and thread-safe; the blob must outlive it. Time grows with n log n of the word's
// length.
class TokenizerModel {
 public:
  virtual ~TokenizerModel() = default;
  // Appends the ids of `word` (valid UTF-8).
  virtual void Tokenize(std::string_view word, std::vector<int32_t>* ids) const = 0;
  // Whether TokenizeBytes() can tell any bytes.
  virtual bool HasBytes() const { return false; }
  // Appends one id per byte; only where HasBytes().
  virtual void TokenizeBytes(std::string_view, std::vector<int32_t>*) const {}
};

// From the object `model` (its `vocab` and `merges` are the blob's tables): WordPiece, BPE,
// Unigram, and SentencePieceBpe, which merges by the score of the piece made. An unknown type or
// option is an unsupported error that names it.
Result<std::unique_ptr<TokenizerModel>> MakeModel(const Json& spec, const BlobView& blob);

}  // namespace tboost
