// Unigram: of all ways to cut a word into pieces, the one whose scores sum to most (Viterbi).
#include <algorithm>
#include <cmath>
#include <limits>

#include "src/text/tokenizer/models_internal.h"
#include "src/text/tokenizer/unicode.h"

namespace tboost::internal {
namespace {

constexpr double kUnknownPenalty = 10.0;  // below the lowest score of the vocabulary

class Unigram : public TokenizerModel {
 public:
  Unigram(const BlobView& blob, int32_t unknown, bool byte_fallback, bool fuse, size_t longest)
      : pieces_(blob),
        scores_(blob.array<double>(BlobPart::kScores)),
        bytes_(blob),
        unknown_(unknown),
        byte_fallback_(byte_fallback),
        fuse_unknown_(fuse),
        longest_(longest) {
    double lowest = 0;
    for (size_t i = 0; i < scores_.size(); ++i) {
      if (std::isfinite(scores_[i])) lowest = std::min(lowest, scores_[i]);
    }
    unknown_score_ = lowest - kUnknownPenalty;
  }

  bool HasBytes() const override { return byte_fallback_ && bytes_.complete(); }
  void TokenizeBytes(std::string_view word, std::vector<int32_t>* ids) const override {
    bytes_.Append(word, ids);
  }

  void Tokenize(std::string_view word, std::vector<int32_t>* ids) const override {
    const std::vector<Step> path = BestPath(word);
    for (size_t i = 0; i < path.size(); ++i) {
      if (path[i].id >= 0) {
        ids->push_back(path[i].id);
        continue;
      }
      const size_t begin = path[i].begin;
      while (fuse_unknown_ && i + 1 < path.size() && path[i + 1].id < 0) ++i;
      const std::string_view unknown = word.substr(begin, path[i].end - begin);
      if (!(byte_fallback_ && bytes_.Append(unknown, ids)) && unknown_ >= 0)
        ids->push_back(unknown_);
    }
  }

 private:
  struct Step {
    size_t begin, end;
    int32_t id;  // -1: a character that no piece covers
  };

  std::vector<Step> BestPath(std::string_view word) const {
    struct Node {
      double score = -std::numeric_limits<double>::infinity();
      size_t begin = 0;
      int32_t id = -1;
    };
    std::vector<Node> nodes(word.size() + 1);  // the best way to end at each byte
    nodes[0].score = 0;
    for (size_t begin = 0, next = 0; begin < word.size(); begin = next) {
      NextCodePoint(word, &next);
      bool covered = false;
      const size_t last = std::min(word.size(), begin + longest_);
      for (size_t end = begin + 1; end <= last; ++end) {
        const int32_t id = pieces_.Find(word.substr(begin, end - begin));
        if (id < 0 || id == unknown_ || static_cast<size_t>(id) >= scores_.size()) continue;
        covered |= end == next;
        const double score = nodes[begin].score + scores_[static_cast<size_t>(id)];
        if (score > nodes[end].score) nodes[end] = {score, begin, id};
      }
      const double unknown = nodes[begin].score + unknown_score_;
      if (!covered && unknown > nodes[next].score) nodes[next] = {unknown, begin, -1};
    }
    std::vector<Step> path;
    for (size_t end = word.size(); end > 0; end = nodes[end].begin) {
      path.push_back({nodes[end].begin, end, nodes[end].id});
    }
    std::reverse(path.begin(), path.end());
    return path;
  }

  PieceTable pieces_;
  BlobArray<double> scores_;
  ByteFallback bytes_;
  int32_t unknown_;
  bool byte_fallback_, fuse_unknown_;
  size_t longest_;
  double unknown_score_ = 0;
};

}  // namespace

Result<std::unique_ptr<TokenizerModel>> MakeUnigram(const Json& spec, const BlobView& blob) {
  constexpr std::string_view kName = "Unigram";
  const PieceTable pieces(blob);
  TBOOST_ASSIGN_OR_RETURN(const int64_t unknown, JsonGet<int64_t>(spec, "unk_id", -1, kName));
  if (unknown < -1 || unknown >= static_cast<int64_t>(pieces.size())) {
    return CorruptError("Unigram: unk_id {} is not in the vocabulary", unknown);
  }
  TBOOST_ASSIGN_OR_RETURN(const bool bytes, JsonGet<bool>(spec, "byte_fallback", false, kName));
  TBOOST_ASSIGN_OR_RETURN(const bool fuse, JsonGet<bool>(spec, "fuse_unk", true, kName));
  TBOOST_ASSIGN_OR_RETURN(const size_t longest, BoundedLongestPiece(pieces));
  return std::unique_ptr<TokenizerModel>(
      std::make_unique<Unigram>(blob, static_cast<int32_t>(unknown), bytes, fuse, longest));
}

}  // namespace tboost::internal
