// A model loaded for running: from an .om, a Hugging Face folder or a .gguf file. An .om is mapped
// and shared between processes; the others are compiled in memory first. Text is UTF-8 throughout.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tboost/runtime.h"
#include "tboost/status.h"

namespace tboost {

struct LoadOptions {
  // Where the model is no .om and is compiled on the way in: "keep" the file's formats, or "f32",
  // "bf16", "f16" for its matrices, or "int8" for the weights of its products. With "bf16" products
  // round the rows of their input to it too, with "int8" to 8 bits by a scale of each row's own.
  std::string dtype = "keep";
  // Tokens of one sequence, prompt and answer together; 0: what the model was compiled for, which
  // is also the most.
  int64_t max_context = 0;
  // Sequences (Generators) of a language model that may hold keys and values at a time, each up to
  // the whole context. Memory is taken as it is used.
  int64_t max_sequences = 1;
  // How keys and values of a language model are kept: "f32", "bf16", or "int8" with a scale for
  // each token and head. Products and sums are f32 all the same.
  std::string kv_dtype = "f32";
  // Called with bytes done and bytes in all while compiling; returning false stops with kCancelled.
  std::function<bool(uint64_t done, uint64_t total)> progress = {};
};

// What running the model takes, in bytes.
struct MemoryPlan {
  uint64_t weights = 0;  // mapped, shared between processes when the file is an .om
  uint64_t arena = 0;    // values of the largest step
  uint64_t kv_page = 0;  // one page of keys and values, as kv_dtype stores them
  int64_t kv_page_tokens = 0;
  uint64_t fixed = 0;  // program, tokenizer, threads' scratch
  // The process's peak for so many sequences of `tokens` tokens each, all at once.
  uint64_t Peak(int64_t tokens, int64_t sequences = 1) const;
};

// One message of a conversation, for the model's chat template.
struct ChatMessage {
  std::string role;  // "system", "user", "assistant"
  std::string content;
};

// Immutable and thread-safe. The runtime must outlive it, and it the Generators made on it.
class Model {
 public:
  // `path` is an .om file, a .gguf file or a folder. The message of a failure names the file and
  // what in it is wrong: kNotFound, kIo, kCorrupt, kUnsupported (an architecture or format that
  // this version lacks), kOutOfRange (max_context beyond the model's), kInvalidArgument (an
  // option), kResourceExhausted, kCancelled (by `progress`).
  static Result<std::unique_ptr<Model>> Load(Runtime& runtime, const std::string& path,
                                             const LoadOptions& options = {});
  ~Model();
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  std::string architecture() const;  // "llama", "bert"...: the name of its builder
  bool generates() const;            // a language model; else it embeds
  int64_t vocab_size() const;        // token ids are below it
  int64_t context_length() const;    // tokens of one sequence
  int64_t hidden_size() const;       // width of an embedding
  MemoryPlan memory() const;

  // Text to token ids and back; kNotFound where the model came without a tokenizer.
  // `parse_special`: special tokens spelt out in the text become those tokens.
  Result<std::vector<int32_t>> Tokenize(std::string_view text, bool add_special_tokens = true,
                                        bool parse_special = true) const;
  // `skip_special`: special tokens have no text. The bytes of a byte-wise vocabulary may be no
  // UTF-8. kOutOfRange: an id outside the vocabulary.
  Result<std::string> Detokenize(std::span<const int32_t> ids, bool skip_special = true) const;

  // The prompt text of a conversation by the model's own chat template, ending where the answer
  // begins. A template error is an error with its line; kNotFound where has_chat_template() is
  // false.
  Result<std::string> RenderChat(std::span<const ChatMessage> messages) const;
  bool has_chat_template() const;

  struct State;  // internal
  State& state() const { return *state_; }

 private:
  explicit Model(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace tboost
