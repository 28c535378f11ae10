// What a loaded Model holds.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "src/plan/om_model.h"
#include "src/runtime/executor.h"
#include "src/runtime/kv_cache.h"
#include "src/text/tokenizer/tokenizer.h"
#include "tboost/model.h"

namespace tboost {

struct Model::State {
  std::string path;  // for messages
  Runtime* runtime = nullptr;
  std::unique_ptr<OmModel> om;
  std::optional<KvPool> kv_pool;  // of a language model
  std::optional<Tokenizer> tokenizer;
  std::unique_ptr<Executor> executor;
  int64_t context_length = 0;
  int64_t vocab_size = 0;
  int64_t hidden_size = 0;
  bool generates = false;

  // Tokens of one step: prompts are cut into chunks of it, embeddings batched up to it.
  int64_t StepTokens() const;
  const Json& settings() const { return om->manifest.at("settings"); }
  Result<const Tokenizer*> RequireTokenizer() const;
};

}  // namespace tboost
