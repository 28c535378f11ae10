// Added tokens: strings that are tokens of their own wherever they stand in the text.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "src/text/tokenizer/blob.h"
#include "src/text/tokenizer/pieces.h"

namespace tboost {

// A sorted table of them, used where it lies in the blob. Thread-safe.
class AddedTokens {
 public:
  AddedTokens() = default;
  AddedTokens(BlobArray<AddedRecord> records, std::string_view bytes);

  bool empty() const { return records_.size() == 0; }
  // Cuts the added tokens out of the open spans: at each place the longest one, from left to right.
  // Special ones only where `special`. The flags of a token decide about spaces and words beside
  // it.
  void Extract(bool special, Pieces* pieces) const;

 private:
  std::string_view text(size_t index) const;
  // The record of the longest token at the start of `rest`.
  std::optional<AddedRecord> LongestAt(std::string_view rest) const;
  void ExtractFrom(std::string_view text, size_t offset, bool special,
                   std::vector<Span>* out) const;

  BlobArray<AddedRecord> records_;
  std::string_view bytes_;
  std::array<uint32_t, 257> first_{};  // the records whose text starts with byte b: [b], [b + 1]
};

}  // namespace tboost
