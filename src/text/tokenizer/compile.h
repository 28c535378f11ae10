// The last step of every builder: a tokenizer in plain data to the blob.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "src/base/json.h"
#include "src/base/status.h"
#include "src/text/tokenizer/blob.h"

namespace tboost {

struct AddedToken {
  std::string text;  // what is matched: normalised already where `normalized`
  uint32_t id = 0;
  uint32_t flags = 0;  // AddedFlag
  bool normalized = false;
};

struct TokenizerSpec {
  // normalizer, pre_tokenizer, model (without its tables), decoder as in tokenizer.json; before and
  // after: ids around a text; special: {bos, eos, unk, pad, end}; max_length, truncate_left.
  Json pipeline = Json::object();
  std::vector<std::string> pieces;  // by id; empty: a hole
  std::vector<uint8_t> flags;       // TokenFlag, by id
  std::vector<double> scores;       // by id, or empty
  std::vector<MergeRecord> merges;  // best first
  std::vector<AddedToken> added;

  // Makes room for `id`; false where ids are implausibly sparse.
  bool Reserve(uint64_t id);
};

// Appends merges to a spec whose pieces are complete.
class MergeReader {
 public:
  // `prefix`: bytes that a piece inside a word has in front, left out where it joins another.
  MergeReader(TokenizerSpec* spec, size_t prefix);
  Status Add(std::string_view left, std::string_view right);
  Status Add(std::string_view line);  // "left right"

 private:
  TokenizerSpec* spec_;
  size_t prefix_;
  std::unordered_map<std::string_view, uint32_t> ids_;
};

// Fails where the pipeline is not one that Tokenizer::Open takes.
Result<std::string> CompileTokenizer(const TokenizerSpec& spec);

// Pieces that end an answer wherever they are special tokens: end of text and end of turn as the
// model families spell them.
bool EndsAnswer(std::string_view piece);

}  // namespace tboost
