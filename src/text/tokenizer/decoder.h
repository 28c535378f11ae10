// Decoders of tokenizer.json, token by token: what a whole sequence decodes to is what its tokens,
// pushed one after the other, give.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "src/base/json.h"
#include "src/base/status.h"

namespace tboost {

// One step: takes tokens and hands on tokens.
struct DecodeStep {
  enum class Kind {
    kJoin,
    kByteLevel,
    kByteFallback,
    kWordPiece,
    kMetaspace,
    kReplace,
    kStrip,
    kStripStart,
    kSuffix,
    kHold
  };
  Kind kind;
  std::string text, replacement;  // what is looked for, and what is put in its place
  size_t start = 0, stop = 0;     // kStrip: how many at either end
  bool flag = false;              // kWordPiece: clean up; kMetaspace: drop the first token's marks
};

// The steps; immutable.
class Decoder {
 public:
  // From the object `decoder` (null: tokens joined by spaces). An unknown type is an unsupported
  // error that names it.
  static Result<Decoder> FromJson(const Json& spec);

 private:
  friend class DecodeStream;
  std::vector<DecodeStep> steps_;
};

// One sequence being decoded. The decoder must outlive it. Not thread-safe.
class DecodeStream {
 public:
  explicit DecodeStream(const Decoder& decoder);
  // Appends the bytes that `token` completes to `out`. `added`: an added token, which byte-level
  // vocabularies hold as plain text.
  void Push(std::string_view token, bool added, std::string* out);
  // Appends what was held back, and begins a new sequence.
  void Finish(std::string* out);

 private:
  struct State {
    bool first = true;
    size_t left = 0;  // kStripStart: how many may still go
    std::string held;
  };
  void Feed(size_t step, std::string token, bool added, std::string* out);
  void Reset();

  const Decoder& decoder_;
  std::vector<State> states_;
};

}  // namespace tboost
