// WordPiece: the longest piece first, from left to right; a word with a part that no piece covers
// is the unknown token as a whole.
#include "src/text/tokenizer/models_internal.h"
#include "src/text/tokenizer/unicode.h"

namespace tboost::internal {
namespace {

class WordPiece : public TokenizerModel {
 public:
  WordPiece(const BlobView& blob, int32_t unknown, std::string prefix, size_t max_chars,
            size_t longest)
      : pieces_(blob),
        unknown_(unknown),
        prefix_(std::move(prefix)),
        max_chars_(max_chars),
        longest_(longest) {}

  void Tokenize(std::string_view word, std::vector<int32_t>* ids) const override {
    const size_t before = ids->size();
    if (TooLong(word) || !AppendPieces(word, ids)) {
      ids->resize(before);
      ids->push_back(unknown_);
    }
  }

 private:
  bool TooLong(std::string_view word) const {
    size_t chars = 0;
    for (const char c : word) chars += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    return chars > max_chars_;
  }

  bool AppendPieces(std::string_view word, std::vector<int32_t>* ids) const {
    std::string candidate;
    for (size_t begin = 0; begin < word.size();) {
      const std::string_view prefix = begin == 0 ? std::string_view() : prefix_;
      candidate.assign(prefix);
      candidate += word.substr(begin, longest_);
      int32_t id = -1;
      while (candidate.size() > prefix.size() && (id = pieces_.Find(candidate)) < 0) {
        do {  // one code point less
          candidate.pop_back();
        } while (candidate.size() > prefix.size() &&
                 (static_cast<unsigned char>(word[begin + candidate.size() - prefix.size()]) &
                  0xC0) == 0x80);
      }
      if (id < 0) return false;
      ids->push_back(id);
      begin += candidate.size() - prefix.size();
    }
    return true;
  }

  PieceTable pieces_;
  int32_t unknown_;
  std::string prefix_;
  size_t max_chars_;
  size_t longest_;  // bytes of a piece
};

}  // namespace

Result<std::unique_ptr<TokenizerModel>> MakeWordPiece(const Json& spec, const BlobView& blob) {
  constexpr std::string_view kName = "WordPiece";
  TBOOST_ASSIGN_OR_RETURN(const int32_t unknown, GetPieceId(spec, "unk_token", PieceTable(blob)));
  if (unknown < 0) return CorruptError("WordPiece: no unk_token");
  TBOOST_ASSIGN_OR_RETURN(std::string prefix,
                          JsonGet<std::string>(spec, "continuing_subword_prefix", "##", kName));
  TBOOST_ASSIGN_OR_RETURN(const int64_t max_chars,
                          JsonGet<int64_t>(spec, "max_input_chars_per_word", 100, kName));
  if (max_chars < 0) return CorruptError("WordPiece: max_input_chars_per_word is {}", max_chars);
  TBOOST_ASSIGN_OR_RETURN(const size_t longest, BoundedLongestPiece(PieceTable(blob)));
  return std::unique_ptr<TokenizerModel>(std::make_unique<WordPiece>(
      blob, unknown, std::move(prefix), static_cast<size_t>(max_chars), longest));
}

}  // namespace tboost::internal
