// Text generation with a language model.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tboost/model.h"

namespace tboost {

// How the next token is chosen. The order is: penalties, temperature, top-k, top-p, min-p, draw.
struct SamplingOptions {
  double temperature = 0;  // 0: the likeliest token, always
  int64_t top_k = 0;       // only the k likeliest; 0: all
  double top_p = 1;        // the smallest set of likeliest tokens with this probability
  double min_p = 0;        // only tokens with this share of the likeliest one's probability
  // Divides (multiplies, where negative) the logits of tokens seen, prompt included; 1: none.
  double repetition_penalty = 1;
  double presence_penalty = 0;   // taken off the logits of tokens generated
  double frequency_penalty = 0;  // the same, times how often
  uint64_t seed = 0;             // the same seed, prompt and options give the same text
};

struct GenerateOptions {
  int64_t max_tokens = 256;            // at most so many are generated
  SamplingOptions sampling = {};       // out of its ranges: kInvalidArgument
  std::vector<std::string> stop = {};  // the text ends before any of these
  bool ignore_eos = false;             // go on after the model's end-of-text tokens
  // Where set, must outlive the call. Cancel() ends the answer: what there is of it is returned,
  // with kCancelled as its finish_reason.
  const CancelToken* cancel = nullptr;
  // Called after each part of the prompt with tokens done and tokens in all.
  std::function<void(int64_t done, int64_t total)> on_prefill = {};
  // Called with each piece of text as it becomes final: whole code points, nothing that may turn
  // out to be part of a stop string. Returning false ends the generation ("cancelled").
  std::function<bool(std::string_view text)> on_text = {};
  // Called with the f32 logits after the last prompt token and after each generated one, before
  // penalties; where the context is full, the last one has none.
  std::function<Status(std::span<const float> logits)> on_logits = {};
};

// kStop: a stop string or an end-of-text token; kLength: max_tokens or the context is used up.
enum class FinishReason { kStop, kLength, kCancelled };
std::string_view FinishReasonName(FinishReason reason);  // "stop", "length", "cancelled"

struct Generation {
  std::vector<int32_t> ids;  // generated, without the token that ended it
  std::string text;          // of ids, less a stop string; empty without a tokenizer
  FinishReason finish_reason = FinishReason::kStop;
  int64_t prompt_tokens = 0;
  int64_t reused_tokens = 0;  // of the prompt, whose keys and values were there already
  double prefill_seconds = 0, decode_seconds = 0;
};

// One sequence: a conversation, or one prompt after another. Keys and values of the longest common
// beginning with the previous prompt and answer are reused. One thread at a time; the model must
// outlive it.
class Generator {
 public:
  explicit Generator(const Model& model);
  ~Generator();
  Generator(const Generator&) = delete;
  Generator& operator=(const Generator&) = delete;

  // kUnsupported: the model embeds. kOutOfRange: an id outside the vocabulary, an empty prompt, or
  // one longer than the context. kResourceExhausted: more Generators hold keys and values than
  // LoadOptions::max_sequences allows. The answer ends with kLength where the context is full; its
  // last token needs no place there.
  Result<Generation> Generate(std::span<const int32_t> prompt_ids,
                              const GenerateOptions& options = {});
  // The same for a text, special tokens recognised, with what the tokenizer puts around one.
  Result<Generation> Generate(std::string_view prompt, const GenerateOptions& options = {});

  // The logits after each of `ids` (all of them, from the start of a sequence), in order and in
  // pieces: `rows` rows of vocab_size, the first being that of ids[first]. Forgets the sequence so
  // far.
  Status Score(std::span<const int32_t> ids,
               const std::function<Status(int64_t first, int64_t rows, const float* logits)>& read);

  // Forgets the sequence and frees its pages.
  void Reset();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tboost
