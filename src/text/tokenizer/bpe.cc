// Byte-pair encoding: the best adjacent pair is merged until none is left. Two ways to rate a pair:
// the rank of the merge in a list, or the score of the piece it makes (SentencePiece).
#include <algorithm>
#include <bit>
#include <queue>

#include "src/text/tokenizer/models_internal.h"
#include "src/text/tokenizer/unicode.h"

namespace tboost::internal {
namespace {

// A run of the word; symbols form a doubly linked list.
struct Symbol {
  int32_t id;         // -1: a character without a piece
  size_t begin, end;  // in the word
  int32_t previous = -1, next = -1;
  bool merged_away = false;
};

// Two neighbours that merge; stale once either has another id or they are no neighbours any more.
struct Candidate {
  uint32_t rank;
  int32_t left, right;  // indices of symbols
  int32_t left_id, right_id, result;
};

// Lowest rank first, then leftmost.
struct Later {
  bool operator()(const Candidate& a, const Candidate& b) const {
    return a.rank != b.rank ? a.rank > b.rank : a.left > b.left;
  }
};

// `rate(left, right, &hit)` tells whether two neighbours merge, how well, and to what.
template <class Rate>
void MergeSymbols(std::vector<Symbol>* symbols, Rate rate) {
  std::vector<Symbol>& list = *symbols;
  std::vector<Candidate> initial;
  initial.reserve(list.size());
  auto offer = [&](int32_t left, auto push) {
    const int32_t right = left < 0 ? -1 : list[left].next;
    MergeTable::Hit hit;
    if (right < 0 || !rate(list[left], list[right], &hit)) return;
    push(Candidate{hit.rank, left, right, list[left].id, list[right].id,
                   static_cast<int32_t>(hit.id)});
  };
  for (size_t i = 0; i + 1 < list.size(); ++i) {
    offer(static_cast<int32_t>(i), [&](const Candidate& c) { initial.push_back(c); });
  }
  std::priority_queue<Candidate, std::vector<Candidate>, Later> queue(Later(), std::move(initial));
  while (!queue.empty()) {
    const Candidate best = queue.top();
    queue.pop();
    Symbol& left = list[best.left];
    Symbol& right = list[best.right];
    const bool stale = left.merged_away || left.next != best.right || left.id != best.left_id ||
                       right.id != best.right_id;
    if (stale) continue;
    left.id = best.result;
    left.end = right.end;
    left.next = right.next;
    right.merged_away = true;
    if (left.next >= 0) list[left.next].previous = best.left;
    const auto push = [&](const Candidate& c) { queue.push(c); };
    offer(left.previous, push);
    offer(best.left, push);
  }
}

void LinkSymbols(std::vector<Symbol>* symbols) {
  for (size_t i = 0; i < symbols->size(); ++i) {
    (*symbols)[i].previous = static_cast<int32_t>(i) - 1;
    (*symbols)[i].next = i + 1 < symbols->size() ? static_cast<int32_t>(i) + 1 : -1;
  }
}

struct BpeOptions {
  std::string prefix, suffix;  // of pieces inside a word, of pieces at its end
  int32_t unknown = -1;
  bool fuse_unknown = false, byte_fallback = false, ignore_merges = false;
};

class RankedBpe : public TokenizerModel {
 public:
  RankedBpe(const BlobView& blob, BpeOptions options)
      : pieces_(blob), merges_(blob), bytes_(blob), options_(std::move(options)) {}

  bool HasBytes() const override { return options_.byte_fallback && bytes_.complete(); }
  void TokenizeBytes(std::string_view word, std::vector<int32_t>* ids) const override {
    bytes_.Append(word, ids);
  }

  void Tokenize(std::string_view word, std::vector<int32_t>* ids) const override {
    if (options_.ignore_merges) {
      const int32_t id = pieces_.Find(word);
      if (id >= 0) return ids->push_back(id);
    }
    std::vector<Symbol> symbols;
    symbols.reserve(word.size());
    AppendSymbols(word, &symbols);
    LinkSymbols(&symbols);
    MergeSymbols(&symbols, [&](const Symbol& left, const Symbol& right, MergeTable::Hit* hit) {
      return merges_.Find(static_cast<uint32_t>(left.id), static_cast<uint32_t>(right.id), hit);
    });
    for (const Symbol& symbol : symbols) {
      if (!symbol.merged_away) ids->push_back(symbol.id);
    }
  }

 private:
  // One symbol per character, or per byte of a character without a piece.
  void AppendSymbols(std::string_view word, std::vector<Symbol>* symbols) const {
    std::vector<int32_t> byte_ids;
    std::string decorated;
    bool after_unknown = false;
    for (size_t pos = 0; pos < word.size();) {
      const size_t begin = pos;
      NextCodePoint(word, &pos);
      std::string_view piece = word.substr(begin, pos - begin);
      if (!options_.prefix.empty() || !options_.suffix.empty()) {
        decorated = (begin > 0 ? options_.prefix : "") + std::string(piece);
        if (pos == word.size()) decorated += options_.suffix;
        piece = decorated;
      }
      const int32_t id = pieces_.Find(piece);
      if (id >= 0) {
        symbols->push_back({id, begin, pos});
        after_unknown = false;
        continue;
      }
      byte_ids.clear();
      if (options_.byte_fallback && bytes_.Append(piece, &byte_ids)) {
        for (const int32_t byte_id : byte_ids) symbols->push_back({byte_id, begin, pos});
        after_unknown = false;
        continue;
      }
      if (options_.unknown < 0) continue;  // a character that nothing stands for is dropped
      if (after_unknown && options_.fuse_unknown) {
        symbols->back().end = pos;
      } else {
        symbols->push_back({options_.unknown, begin, pos});
      }
      after_unknown = true;
    }
  }

  PieceTable pieces_;
  MergeTable merges_;
  ByteFallback bytes_;
  BpeOptions options_;
};

class ScoredBpe : public TokenizerModel {
 public:
  ScoredBpe(const BlobView& blob, int32_t unknown)
      : pieces_(blob),
        scores_(blob.array<double>(BlobPart::kScores)),
        bytes_(blob),
        unknown_(unknown) {}

  bool HasBytes() const override { return bytes_.complete(); }
  void TokenizeBytes(std::string_view word, std::vector<int32_t>* ids) const override {
    bytes_.Append(word, ids);
  }

  void Tokenize(std::string_view word, std::vector<int32_t>* ids) const override {
    std::vector<Symbol> symbols;
    symbols.reserve(word.size());
    for (size_t pos = 0; pos < word.size();) {
      const size_t begin = pos;
      NextCodePoint(word, &pos);
      symbols.push_back({pieces_.Find(word.substr(begin, pos - begin)), begin, pos});
    }
    LinkSymbols(&symbols);
    MergeSymbols(&symbols, [&](const Symbol& left, const Symbol& right, MergeTable::Hit* hit) {
      const int32_t id = pieces_.Find(word.substr(left.begin, right.end - left.begin));
      if (id < 0) return false;
      *hit = {Rank(id), static_cast<uint32_t>(id)};
      return true;
    });
    for (const Symbol& symbol : symbols) {
      if (symbol.merged_away) continue;
      if (symbol.id >= 0) {
        ids->push_back(symbol.id);
      } else if (!bytes_.Append(word.substr(symbol.begin, symbol.end - symbol.begin), ids) &&
                 unknown_ >= 0) {
        ids->push_back(unknown_);
      }
    }
  }

 private:
  // A number that falls as the score rises.
  uint32_t Rank(int32_t id) const {
    if (static_cast<size_t>(id) >= scores_.size()) return UINT32_MAX;
    const uint32_t bits =
        std::bit_cast<uint32_t>(static_cast<float>(scores_[static_cast<size_t>(id)]) + 0.0f);
    return (bits & 0x80000000u) != 0 ? bits : 0x7FFFFFFFu - bits;
  }

  PieceTable pieces_;
  BlobArray<double> scores_;
  ByteFallback bytes_;
  int32_t unknown_;
};

}  // namespace

Result<std::unique_ptr<TokenizerModel>> MakeBpe(const Json& spec, const BlobView& blob) {
  constexpr std::string_view kName = "BPE";
  TBOOST_ASSIGN_OR_RETURN(const double dropout, JsonGet<double>(spec, "dropout", 0.0, kName));
  if (dropout != 0.0) return UnsupportedError("BPE: dropout {} is not supported", dropout);
  BpeOptions options;
  TBOOST_ASSIGN_OR_RETURN(options.unknown, GetPieceId(spec, "unk_token", PieceTable(blob)));
  TBOOST_ASSIGN_OR_RETURN(options.prefix,
                          JsonGet<std::string>(spec, "continuing_subword_prefix", "", kName));
  TBOOST_ASSIGN_OR_RETURN(options.suffix,
                          JsonGet<std::string>(spec, "end_of_word_suffix", "", kName));
  TBOOST_ASSIGN_OR_RETURN(options.fuse_unknown, JsonGet<bool>(spec, "fuse_unk", false, kName));
  TBOOST_ASSIGN_OR_RETURN(options.byte_fallback,
                          JsonGet<bool>(spec, "byte_fallback", false, kName));
  TBOOST_ASSIGN_OR_RETURN(options.ignore_merges,
                          JsonGet<bool>(spec, "ignore_merges", false, kName));
  return std::unique_ptr<TokenizerModel>(std::make_unique<RankedBpe>(blob, std::move(options)));
}

Result<std::unique_ptr<TokenizerModel>> MakeSentencePieceBpe(const Json& spec,
                                                             const BlobView& blob) {
  TBOOST_ASSIGN_OR_RETURN(const int64_t unknown, JsonGet<int64_t>(spec, "unk_id", -1, "model"));
  if (unknown < -1 || unknown >= static_cast<int64_t>(PieceTable(blob).size())) {
    return CorruptError("model: unk_id {} is not in the vocabulary", unknown);
  }
  return std::unique_ptr<TokenizerModel>(
      std::make_unique<ScoredBpe>(blob, static_cast<int32_t>(unknown)));
}

}  // namespace tboost::internal
