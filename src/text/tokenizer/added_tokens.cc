#include "src/text/tokenizer/added_tokens.h"

#include <algorithm>

#include "src/base/checked.h"
#include "src/text/tokenizer/unicode.h"

namespace tboost {
namespace {

bool StartsWithWord(std::string_view text) {
  size_t pos = 0;
  return !text.empty() && IsWordCharacter(NextCodePoint(text, &pos));
}

// The start of the last code point of valid, non-empty UTF-8.
size_t LastCodePoint(std::string_view text) {
  size_t at = text.size() - 1;
  while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) --at;
  return at;
}

bool EndsWithWord(std::string_view text) {
  return !text.empty() && StartsWithWord(text.substr(LastCodePoint(text)));
}

size_t TrailingSpaceStart(std::string_view text) {
  while (!text.empty()) {
    const size_t last = LastCodePoint(text);
    size_t pos = last;
    if (!IsWhitespace(NextCodePoint(text, &pos))) break;
    text = text.substr(0, last);
  }
  return text.size();
}

size_t LeadingSpaceEnd(std::string_view text) {
  size_t end = 0;
  for (size_t pos = 0; pos < text.size(); end = pos) {
    if (!IsWhitespace(NextCodePoint(text, &pos))) break;
  }
  return end;
}

}  // namespace

AddedTokens::AddedTokens(BlobArray<AddedRecord> records, std::string_view bytes)
    : records_(records), bytes_(bytes) {
  for (size_t i = 0; i < records_.size(); ++i) {
    const std::string_view token = text(i);
    const size_t byte = token.empty() ? 0 : static_cast<unsigned char>(token.front());
    first_[byte + 1] = static_cast<uint32_t>(i + 1);
  }
  for (size_t byte = 1; byte < first_.size(); ++byte) {
    first_[byte] = std::max(first_[byte], first_[byte - 1]);
  }
}

std::string_view AddedTokens::text(size_t index) const {
  const AddedRecord record = records_[index];
  if (!InRange(record.offset, record.size, bytes_.size())) return {};
  return bytes_.substr(record.offset, record.size);
}

std::optional<AddedRecord> AddedTokens::LongestAt(std::string_view rest) const {
  std::optional<AddedRecord> best;
  if (rest.empty()) return best;
  const size_t byte = static_cast<unsigned char>(rest.front());
  size_t low = first_[byte], high = first_[byte + 1];
  for (size_t depth = 1; low < high; ++depth) {
    // All of [low, high) start with rest[0, depth); the one that ends here sorts first.
    if (text(low).size() <= depth) {
      if (text(low) == rest.substr(0, depth)) best = records_[low];
      ++low;
      if (low == high) break;
    }
    if (depth >= rest.size()) break;
    const auto at = [&](size_t index) {
      const std::string_view token = text(index);
      return depth < token.size() ? static_cast<unsigned char>(token[depth]) : -1;
    };
    const int wanted = static_cast<unsigned char>(rest[depth]);
    const auto bound = [&](int value) {  // the first of [low, high) whose byte is at least `value`
      size_t begin = low, end = high;
      while (begin < end) {
        const size_t middle = begin + (end - begin) / 2;
        if (at(middle) < value) {
          begin = middle + 1;
        } else {
          end = middle;
        }
      }
      return begin;
    };
    const size_t next_low = bound(wanted);
    high = bound(wanted + 1);
    low = next_low;
  }
  return best;
}

void AddedTokens::ExtractFrom(std::string_view text, size_t offset, bool special,
                              std::vector<Span>* out) const {
  size_t done = 0;
  for (size_t at = 0; at < text.size();) {
    const std::optional<AddedRecord> token = LongestAt(text.substr(at));
    if (!token) {
      ++at;
      continue;
    }
    size_t begin = at, end = at + token->size;
    at = end;
    if ((token->flags & kAddedSpecial) != 0 && !special) continue;
    if ((token->flags & kAddedSingleWord) != 0 &&
        (EndsWithWord(text.substr(0, begin)) || StartsWithWord(text.substr(end)))) {
      continue;
    }
    if ((token->flags & kAddedLeftStrip) != 0) {
      begin = done + TrailingSpaceStart(text.substr(done, begin - done));
    }
    if ((token->flags & kAddedRightStrip) != 0) end += LeadingSpaceEnd(text.substr(end));
    if (begin > done) out->push_back({offset + done, offset + begin});
    out->push_back({offset + begin, offset + end, static_cast<int32_t>(token->id)});
    done = at = end;
  }
  if (done < text.size()) out->push_back({offset + done, offset + text.size()});
}

void AddedTokens::Extract(bool special, Pieces* pieces) const {
  if (empty()) return;
  std::vector<Span> out;
  for (const Span& span : pieces->spans) {
    if (span.open()) {
      ExtractFrom(pieces->view(span), span.begin, special, &out);
    } else {
      out.push_back(span);
    }
  }
  pieces->spans = std::move(out);
}

}  // namespace tboost
