// Text to token ids and back, on a blob that is used where it lies (blob.h).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/status.h"
#include "src/text/tokenizer/decoder.h"

namespace tboost {

struct EncodeOptions {
  bool add_special_tokens = true;  // what the model expects around a text ([CLS] ... [SEP], <bos>)
  bool parse_special = true;       // special tokens spelt out in the text become those tokens
  // At most that many ids, special ones included; 0: any number. Absent: what the tokenizer's file
  // says.
  std::optional<size_t> max_length;
};

// Ids of tokens with a meaning; -1 where there is none.
struct SpecialIds {
  int32_t bos = -1, eos = -1, unknown = -1, pad = -1;
  std::vector<int32_t> end;  // any of these ends an answer: eos, and end-of-turn tokens
};

// Immutable; any number of threads may use one.
class Tokenizer {
 public:
  // `blob` comes from BuildTokenizerFromJson / BuildTokenizerFromGguf and must outlive the
  // tokenizer. Under a millisecond for any vocabulary: the tables stay where they are. Hostile
  // bytes give an error or wrong ids, never more.
  static Result<Tokenizer> Open(std::string_view blob);
  // The same on a blob that the tokenizer keeps.
  static Result<Tokenizer> Own(std::string blob);
  Tokenizer(Tokenizer&& other) noexcept;
  Tokenizer& operator=(Tokenizer&& other) noexcept;
  ~Tokenizer();

  // Any bytes are text: those that are no UTF-8 are told byte by byte where the vocabulary can,
  // else each as U+FFFD. Fails only where the text passes 1 GB or a pattern takes too long.
  Result<std::vector<int32_t>> Encode(std::string_view text,
                                      const EncodeOptions& options = {}) const;

  // The bytes of `ids`. Where the vocabulary is byte-wise these may be no UTF-8. An id outside the
  // vocabulary is an error. `skip_special`: special tokens have no text.
  Result<std::string> Decode(std::span<const int32_t> ids, bool skip_special = true) const;

  size_t vocabulary_size() const;            // ids are below this
  std::string_view Piece(int32_t id) const;  // as the vocabulary writes it; empty if none
  // An added token or piece; looks through all added tokens.
  std::optional<int32_t> Find(std::string_view piece) const;
  bool IsSpecial(int32_t id) const;
  bool IsAdded(int32_t id) const;
  const SpecialIds& special() const;
  const Decoder& decoder() const;

 private:
  struct Impl;
  explicit Tokenizer(std::unique_ptr<const Impl> impl);
  static Result<std::unique_ptr<Impl>> Parse(std::string_view blob);
  std::unique_ptr<const Impl> impl_;
};

}  // namespace tboost
