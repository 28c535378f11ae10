#include "src/text/tokenizer/split.h"

#include <utility>

namespace tboost {
namespace {

struct Cut {
  size_t begin, end;
  bool match;
};

// The whole text as alternating matches and gaps.
void CoverText(const std::vector<TextRange>& matches, size_t size, bool invert,
               std::vector<Cut>* cuts) {
  cuts->clear();
  size_t done = 0;
  for (const TextRange& match : matches) {
    if (match.begin > done) cuts->push_back({done, match.begin, invert});
    cuts->push_back({match.begin, match.end, !invert});
    done = match.end;
  }
  if (done < size) cuts->push_back({done, size, invert});
}

// Whether `next` joins the span that ends with `previous`.
bool Joins(SplitBehavior behavior, const Cut& previous, const Cut& next) {
  switch (behavior) {
    case SplitBehavior::kContiguous:
      return previous.match == next.match;
    case SplitBehavior::kMergedWithPrevious:
      return next.match && !previous.match;
    case SplitBehavior::kMergedWithNext:
      return previous.match && !next.match;
    default:
      return false;
  }
}

}  // namespace

std::optional<SplitBehavior> SplitBehaviorFromName(std::string_view name) {
  static constexpr std::pair<std::string_view, SplitBehavior> kNames[] = {
      {"Removed", SplitBehavior::kRemoved},
      {"Isolated", SplitBehavior::kIsolated},
      {"MergedWithPrevious", SplitBehavior::kMergedWithPrevious},
      {"MergedWithNext", SplitBehavior::kMergedWithNext},
      {"Contiguous", SplitBehavior::kContiguous},
  };
  for (const auto& [known, behavior] : kNames) {
    if (known == name) return behavior;
  }
  return std::nullopt;
}

Status Split(const Pattern& pattern, SplitBehavior behavior, bool invert, Pieces* pieces) {
  Pattern::Finder finder(pattern);
  std::vector<Span> out;
  std::vector<Cut> cuts;
  for (const Span& span : pieces->spans) {
    if (!span.open()) {
      out.push_back(span);
      continue;
    }
    TBOOST_ASSIGN_OR_RETURN(const auto* matches, finder.Find(pieces->view(span)));
    CoverText(*matches, span.end - span.begin, invert, &cuts);
    for (size_t i = 0; i < cuts.size(); ++i) {
      if (behavior == SplitBehavior::kRemoved && cuts[i].match) continue;
      if (i > 0 && Joins(behavior, cuts[i - 1], cuts[i])) {
        out.back().end = span.begin + cuts[i].end;
      } else {
        out.push_back({span.begin + cuts[i].begin, span.begin + cuts[i].end});
      }
    }
  }
  pieces->spans = std::move(out);
  return OkStatus();
}

}  // namespace tboost
