// The makers of the models, and what models share.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "src/text/tokenizer/model.h"

namespace tboost::internal {

Result<std::unique_ptr<TokenizerModel>> MakeWordPiece(const Json& spec, const BlobView& blob);
Result<std::unique_ptr<TokenizerModel>> MakeBpe(const Json& spec, const BlobView& blob);
Result<std::unique_ptr<TokenizerModel>> MakeSentencePieceBpe(const Json& spec,
                                                             const BlobView& blob);
Result<std::unique_ptr<TokenizerModel>> MakeUnigram(const Json& spec, const BlobView& blob);

// The pieces that stand for single bytes.
class ByteFallback {
 public:
  ByteFallback() = default;
  explicit ByteFallback(const BlobView& blob) : ids_(blob.array<int32_t>(BlobPart::kByteIds)) {}
  // Whether every byte has a piece.
  bool complete() const;
  // Appends the ids of `bytes`, or nothing and false where one has none.
  bool Append(std::string_view bytes, std::vector<int32_t>* ids) const;

 private:
  BlobArray<int32_t> ids_;
};

// The id of the piece that `spec[key]` names; -1 where the key is absent or null.
Result<int32_t> GetPieceId(const Json& spec, std::string_view key, const PieceTable& pieces);

// The longest piece in bytes; an error where it is so long that trying every length takes forever.
Result<size_t> BoundedLongestPiece(const PieceTable& pieces);

}  // namespace tboost::internal
