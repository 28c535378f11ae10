// Text embeddings: one vector for each text, as the model's own files define it (pooling,
// normalisation, length limit). Thread-safe: calls of several threads queue on the runtime.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "tboost/model.h"

namespace tboost {

struct EmbedOptions {
  // Tokens of a text, special ones included; longer texts are cut; 0: the model's. 2 up to the
  // model's context_length().
  int64_t max_length = 0;
  // Put before every text: "query: ", or the name of one of the model's own prompts. Not for ids.
  std::string prompt = {};
  // Where set, must outlive the call; Cancel() ends it with kCancelled and without a result.
  const CancelToken* cancel = nullptr;
  // Called after each step with texts done and texts in all; returning false stops with kCancelled.
  std::function<bool(size_t done, size_t total)> progress = {};
};

struct Embedding {
  std::vector<float> values;  // [hidden_size], pooled and normalised as the model's files say
  int64_t tokens = 0;         // that the text became, special ones included
};

// Embeds texts (UTF-8) in their order. No padding: a text has the same bits alone and in any batch,
// with any number of threads. An empty text is a text like any other.
// kUnsupported: the model generates. kNotFound: it came without a tokenizer. kOutOfRange:
// max_length.
Result<std::vector<Embedding>> Embed(const Model& model, std::span<const std::string> texts,
                                     const EmbedOptions& options = {});
// The same for token ids, which hold their special tokens already and are not cut: kOutOfRange for
// an id outside the vocabulary, a text without ids and one longer than context_length().
Result<std::vector<Embedding>> EmbedIds(const Model& model,
                                        std::span<const std::vector<int32_t>> ids,
                                        const EmbedOptions& options = {});

}  // namespace tboost
