// Text embeddings.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "tboost/model.h"

namespace tboost {

struct EmbedOptions {
  // Tokens of a text, special ones included; longer texts are cut; 0: the model's.
  int64_t max_length = 0;
  // Put before every text: "query: ", or the name of one of the model's own prompts.
  std::string prompt = {};
  const CancelToken* cancel = nullptr;
  // Called after each step with texts done and texts in all; returning false stops with kCancelled.
  std::function<bool(size_t done, size_t total)> progress = {};
};

struct Embedding {
  std::vector<float> values;  // [hidden_size], pooled and normalised as the model's files say
  int64_t tokens = 0;
};

// Embeds texts in their order. No padding: a text has the same bits alone and in any batch.
Result<std::vector<Embedding>> Embed(const Model& model, std::span<const std::string> texts,
                                     const EmbedOptions& options = {});
// The same for token ids.
Result<std::vector<Embedding>> EmbedIds(const Model& model,
                                        std::span<const std::vector<int32_t>> ids,
                                        const EmbedOptions& options = {});

}  // namespace tboost
