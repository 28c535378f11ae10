#include "src/text/tokenizer/model.h"

#include "src/text/tokenizer/models_internal.h"

namespace tboost {
namespace internal {

bool ByteFallback::complete() const {
  if (ids_.size() != 256) return false;
  for (size_t byte = 0; byte < 256; ++byte) {
    if (ids_[byte] < 0) return false;
  }
  return true;
}

bool ByteFallback::Append(std::string_view bytes, std::vector<int32_t>* ids) const {
  const size_t before = ids->size();
  for (const char c : bytes) {
    const size_t byte = static_cast<uint8_t>(c);
    if (byte >= ids_.size() || ids_[byte] < 0) {
      ids->resize(before);
      return false;
    }
    ids->push_back(ids_[byte]);
  }
  return true;
}

Result<int32_t> GetPieceId(const Json& spec, std::string_view key, const PieceTable& pieces) {
  TBOOST_ASSIGN_OR_RETURN(const std::string piece, JsonGet<std::string>(spec, key, "", "model"));
  if (piece.empty()) return int32_t{-1};
  const int32_t id = pieces.Find(piece);
  if (id < 0) return CorruptError("model: {} \"{}\" is not in the vocabulary", key, piece);
  return id;
}

Result<size_t> BoundedLongestPiece(const PieceTable& pieces) {
  constexpr size_t kLimit = 1024;
  const size_t longest = pieces.LongestPiece();
  if (longest > kLimit) {
    return UnsupportedError("model: a piece has {} bytes, at most {} are supported", longest,
                            kLimit);
  }
  return longest;
}

}  // namespace internal

namespace {

struct Entry {
  std::string_view type;
  Result<std::unique_ptr<TokenizerModel>> (*make)(const Json&, const BlobView&);
};
constexpr Entry kModels[] = {
    {"BPE", internal::MakeBpe},
    {"SentencePieceBpe", internal::MakeSentencePieceBpe},
    {"Unigram", internal::MakeUnigram},
    {"WordPiece", internal::MakeWordPiece},
};

}  // namespace

Result<std::unique_ptr<TokenizerModel>> MakeModel(const Json& spec, const BlobView& blob) {
  TBOOST_ASSIGN_OR_RETURN(const std::string type, JsonRequire<std::string>(spec, "type", "model"));
  for (const Entry& entry : kModels) {
    if (entry.type == type) return entry.make(spec, blob);
  }
  return UnsupportedError("model: type \"{}\" is not supported", type);
}

}  // namespace tboost
