#include "tboost/embed.h"

#include <algorithm>
#include <new>

#include "src/base/status.h"
#include "src/generate/model_state.h"

namespace tboost {
namespace {

Status CheckEmbeds(const Model::State& model) {
  if (!model.generates) return OkStatus();
  return UnsupportedError("{}: this model generates text, it does not embed", model.path);
}

Status CheckIds(const Model::State& model, std::span<const std::vector<int32_t>> texts) {
  TBOOST_RETURN_IF_ERROR(CheckEmbeds(model));
  for (size_t i = 0; i < texts.size(); ++i) {
    if (texts[i].empty()) return OutOfRangeError("text {} has no tokens", i);
    if (static_cast<int64_t>(texts[i].size()) > model.context_length)
      return OutOfRangeError("text {} has {} tokens, the model takes {}", i, texts[i].size(),
                             model.context_length);
    for (int32_t id : texts[i])
      if (id < 0 || id >= model.vocab_size)
        return OutOfRangeError("text {}: token id {} is outside the vocabulary (0 to {})", i, id,
                               model.vocab_size - 1);
  }
  return OkStatus();
}

// The prompt of that name in the model's files, else `prompt` itself.
std::string ResolvePrompt(const Model::State& model, const std::string& prompt) {
  const Json prompts = model.settings().at("embedding").value("prompts", Json::object());
  return prompts.is_object() && prompts.contains(prompt) && prompts.at(prompt).is_string()
             ? prompts.at(prompt).get<std::string>()
             : prompt;
}

Result<int64_t> MaxLength(const Model::State& model, const EmbedOptions& options) {
  TBOOST_ASSIGN_OR_RETURN(const int64_t own,
                          JsonGet<int64_t>(model.settings().at("embedding"), "max_length",
                                           model.context_length, "settings"));
  const int64_t limit = std::min(own, model.context_length);
  if (options.max_length == 0) return limit;
  if (options.max_length < 2 || options.max_length > model.context_length)
    return OutOfRangeError("max_length is {}, expected 2 to {}", options.max_length,
                           model.context_length);
  return options.max_length;
}

}  // namespace

Result<std::vector<Embedding>> EmbedIds(const Model& model,
                                        std::span<const std::vector<int32_t>> texts,
                                        const EmbedOptions& options) try {
  Model::State& state = model.state();
  TBOOST_RETURN_IF_ERROR(CheckIds(state, texts));
  std::vector<Embedding> out(texts.size());
  const auto budget = static_cast<size_t>(state.StepTokens());
  for (size_t first = 0; first < texts.size();) {
    std::vector<SequenceStep> batch;
    size_t tokens = 0;
    for (size_t i = first; i < texts.size() && (i == first || tokens + texts[i].size() <= budget);
         ++i) {
      batch.push_back({texts[i], nullptr});
      tokens += texts[i].size();
    }
    StepInputs inputs;
    inputs.sequences = batch;
    inputs.cancel = options.cancel;
    TBOOST_RETURN_IF_ERROR(state.executor->Run(inputs, [&](const Executor::Outputs& outputs) {
      const TensorView view = outputs.Get("embedding");
      const int64_t width = view.shape.rank() == 2 ? view.shape[1] : 0;
      for (size_t i = 0; i < batch.size(); ++i) {
        const float* row = view.as<const float>() + static_cast<int64_t>(i) * view.stride();
        out[first + i].values.assign(row, row + width);
        out[first + i].tokens = static_cast<int64_t>(batch[i].ids.size());
      }
      return OkStatus();
    }));
    first += batch.size();
    if (options.progress && !options.progress(first, texts.size()))
      return CancelledError("stopped on request");
  }
  return out;
} catch (const std::bad_alloc&) {
  return ResourceExhaustedError("not enough memory for the embeddings");
}

Result<std::vector<Embedding>> Embed(const Model& model, std::span<const std::string> texts,
                                     const EmbedOptions& options) try {
  Model::State& state = model.state();
  TBOOST_RETURN_IF_ERROR(CheckEmbeds(state));
  TBOOST_ASSIGN_OR_RETURN(const Tokenizer* tokenizer, state.RequireTokenizer());
  TBOOST_ASSIGN_OR_RETURN(const int64_t max_length, MaxLength(state, options));
  const std::string prompt = ResolvePrompt(state, options.prompt);
  std::vector<std::vector<int32_t>> ids(texts.size());
  for (size_t i = 0; i < texts.size(); ++i) {
    TBOOST_ASSIGN_OR_RETURN(
        ids[i],
        tokenizer->Encode(prompt + texts[i], {.max_length = static_cast<size_t>(max_length)}));
  }
  return EmbedIds(model, ids, options);
} catch (const std::bad_alloc&) {
  return ResourceExhaustedError("not enough memory for the embeddings");
}

}  // namespace tboost
