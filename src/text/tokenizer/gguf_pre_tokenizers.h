// The pre-tokenizers that GGUF files name in tokenizer.ggml.pre.
#pragma once

#include <span>
#include <string_view>

namespace tboost {

struct GgufPreTokenizer {
  std::string_view names;  // between spaces
  // Patterns; each cuts the words of the ones before at its matches.
  std::span<const std::string_view> patterns;
  bool ignore_merges = false;  // a word that is a piece needs no merges
  bool add_bos = false;        // where the file does not say
  std::string_view normalizer = {};
};

// Null where `name` is unknown.
const GgufPreTokenizer* FindGgufPreTokenizer(std::string_view name);

}  // namespace tboost
