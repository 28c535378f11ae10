// The text on its way from bytes to tokens: one buffer, cut into spans that the steps refine.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tboost {

inline constexpr int32_t kNoToken = -1;

struct Span {
  size_t begin, end;
  int32_t token = kNoToken;  // an added token found here; no step touches the span any more
  bool raw = false;          // bytes that are not UTF-8: only byte-wise steps apply
  bool open() const { return token == kNoToken && !raw; }
};

// Spans lie in order and do not overlap; what no span covers is dropped. Open spans are valid
// UTF-8.
struct Pieces {
  std::string text;
  std::vector<Span> spans;

  std::string_view view(const Span& span) const {
    return std::string_view(text).substr(span.begin, span.end - span.begin);
  }

  // Replaces the text of each span for which `select` is true by what `rewrite(text, index)`
  // returns.
  template <class Select, class Function>
  void Rewrite(Select select, Function rewrite) {
    std::string out;
    out.reserve(text.size() + text.size() / 2);
    for (size_t i = 0; i < spans.size(); ++i) {
      Span& span = spans[i];
      const size_t begin = out.size();
      if (select(span)) {
        out += rewrite(view(span), i);
      } else {
        out += view(span);
      }
      span.begin = begin;
      span.end = out.size();
    }
    text = std::move(out);
  }
};

}  // namespace tboost
