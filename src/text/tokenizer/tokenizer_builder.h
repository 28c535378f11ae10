// Makes the tokenizer's blob (blob.h) from what models bring: tokenizer.json, or the vocabulary of
// a GGUF file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/base/json.h"
#include "src/base/status.h"

namespace tboost {

// From the contents of tokenizer.json and tokenizer_config.json (null where absent; it names the
// special tokens). What the file asks for and this version lacks is an unsupported error that names
// it.
Result<std::string> BuildTokenizerFromJson(const Json& tokenizer, const Json& config);

// The fields tokenizer.ggml.* of a GGUF file. Ids are -1 where absent.
struct GgufVocabulary {
  std::string model;  // "gpt2": byte-level BPE; "llama": SentencePiece-style BPE
  std::string pre;    // pre-tokenizer of "gpt2"; empty means "default"
  std::vector<std::string> tokens;
  std::vector<float> scores;        // "llama": one per token
  std::vector<int32_t> types;       // GgufTokenType, one per token; may be empty: all normal
  std::vector<std::string> merges;  // "gpt2": "left right", best first
  int32_t bos = -1, eos = -1, eot = -1, unknown = -1, pad = -1;
  std::optional<bool> add_bos, add_eos, add_space_prefix;  // absent: what the kind does
};

enum GgufTokenType : int32_t {
  kGgufNormal = 1,
  kGgufUnknown = 2,
  kGgufControl = 3,
  kGgufUserDefined = 4,
  kGgufUnused = 5,
  kGgufByte = 6,
};

Result<std::string> BuildTokenizerFromGguf(const GgufVocabulary& vocabulary);

}  // namespace tboost
