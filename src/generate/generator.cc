#include <algorithm>
#include <chrono>
#include <new>

#include "src/base/status.h"
#include "src/generate/model_state.h"
#include "src/generate/sampler.h"
#include "src/text/detokenizer.h"
#include "src/text/stop_matcher.h"
#include "tboost/generate.h"

namespace tboost {
namespace {

// Rows of logits computed at a time when all are wanted: a vocabulary's row is large.
constexpr int64_t kScoreRows = 32;

using ReadStep = FunctionRef<Status(const Executor::Outputs&)>;

double SecondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

std::string_view FinishReasonName(FinishReason reason) {
  switch (reason) {
    case FinishReason::kStop:
      return "stop";
    case FinishReason::kLength:
      return "length";
    case FinishReason::kCancelled:
      return "cancelled";
  }
  return "unknown";
}

struct Generator::State {
  explicit State(const Model& model) : model(model.state()) {}
  ~State() { Truncate(0); }

  Model::State& model;
  KvSequence kv;
  std::vector<int32_t> ids;  // whose keys and values kv holds

  Status CheckPrompt(std::span<const int32_t> prompt) const;
  void Truncate(int64_t length);
  int64_t ReuseCommonPrefix(std::span<const int32_t> prompt);
  // `best`: as StepInputs::best.
  Status Step(std::span<const int32_t> step, std::span<const int32_t> rows, int64_t best,
              const CancelToken* cancel, ReadStep read);
  Status Prefill(std::span<const int32_t> rest, int64_t best, const GenerateOptions& options,
                 ReadStep read);
};

Status Generator::State::CheckPrompt(std::span<const int32_t> prompt) const {
  if (!model.generates)
    return UnsupportedError("{}: this model embeds text, it does not generate", model.path);
  if (prompt.empty()) return OutOfRangeError("the prompt is empty");
  if (static_cast<int64_t>(prompt.size()) > model.context_length)
    return OutOfRangeError("the prompt has {} tokens, the context holds {}", prompt.size(),
                           model.context_length);
  for (int32_t id : prompt)
    if (id < 0 || id >= model.vocab_size)
      return OutOfRangeError("token id {} is outside the vocabulary (0 to {})", id,
                             model.vocab_size - 1);
  return OkStatus();
}

void Generator::State::Truncate(int64_t length) {
  if (model.kv_pool) model.kv_pool->Truncate(kv, length);
  ids.resize(std::min<size_t>(ids.size(), length));
}

// Keeps what `prompt` shares with the sequence so far, all but the last token, which must run for
// its logits.
int64_t Generator::State::ReuseCommonPrefix(std::span<const int32_t> prompt) {
  size_t common = 0;
  while (common + 1 < prompt.size() && common < ids.size() && ids[common] == prompt[common])
    ++common;
  Truncate(static_cast<int64_t>(common));
  return static_cast<int64_t>(common);
}

Status Generator::State::Step(std::span<const int32_t> step, std::span<const int32_t> rows,
                              int64_t best, const CancelToken* cancel, ReadStep read) {
  TBOOST_RETURN_IF_ERROR(model.kv_pool->Reserve(kv, static_cast<int64_t>(step.size())));
  const SequenceStep sequence{step, &kv};
  StepInputs inputs;
  inputs.sequences = {&sequence, 1};
  inputs.output_rows = rows;
  inputs.best = best;
  inputs.cancel = cancel;
  TBOOST_RETURN_IF_ERROR(model.executor->Run(inputs, read));
  ids.insert(ids.end(), step.begin(), step.end());
  return OkStatus();
}

Status Generator::State::Prefill(std::span<const int32_t> rest, int64_t best,
                                 const GenerateOptions& options, ReadStep read) {
  const size_t total = rest.size();
  const auto chunk = static_cast<size_t>(model.StepTokens());
  while (!rest.empty()) {
    const std::span<const int32_t> step = rest.first(std::min(chunk, rest.size()));
    rest = rest.subspan(step.size());
    // One row a chunk keeps the shape of full chunks the same; only the last one's is read.
    const int32_t row = static_cast<int32_t>(step.size()) - 1;
    TBOOST_RETURN_IF_ERROR(
        Step(step, {&row, 1}, best, options.cancel, [&](const Executor::Outputs& outputs) {
          return rest.empty() ? read(outputs) : OkStatus();
        }));
    if (options.on_prefill)
      options.on_prefill(static_cast<int64_t>(total - rest.size()), static_cast<int64_t>(total));
  }
  return OkStatus();
}

Generator::Generator(const Model& model) : state_(std::make_unique<State>(model)) {}
Generator::~Generator() = default;

void Generator::Reset() { state_->Truncate(0); }

Result<Generation> Generator::Generate(std::string_view prompt,
                                       const GenerateOptions& options) try {
  TBOOST_ASSIGN_OR_RETURN(const Tokenizer* tokenizer, state_->model.RequireTokenizer());
  TBOOST_ASSIGN_OR_RETURN(const std::vector<int32_t> ids,
                          tokenizer->Encode(prompt, {.max_length = 0}));
  return Generate(ids, options);
} catch (const std::bad_alloc&) {
  return ResourceExhaustedError("not enough memory for the prompt");
}

namespace {

// The text of an answer as it grows: whole code points, cut at stop strings, handed on when final.
class AnswerText {
 public:
  AnswerText(const Tokenizer* tokenizer, const GenerateOptions& options)
      : options_(options), stops_(options.stop) {
    if (tokenizer) detokenizer_.emplace(*tokenizer);
  }
  // False when a stop string ended the text.
  bool Push(int32_t id) {
    if (!detokenizer_) return true;
    // A row beyond the tokenizer's vocabulary only pads the matrix: it has no text.
    const Result<std::string> piece = detokenizer_->Push(id);
    if (piece.ok()) Emit(stops_.Push(*piece));
    return !stops_.stopped();
  }
  void Finish() {
    if (!detokenizer_ || stops_.stopped()) return;
    Emit(stops_.Push(detokenizer_->Flush()));
    if (!stops_.stopped()) Emit(stops_.Flush());
  }
  bool wanted() const { return wanted_; }
  std::string Take() { return std::move(text_); }

 private:
  void Emit(std::string piece) {
    if (piece.empty()) return;
    text_ += piece;
    if (options_.on_text && wanted_) wanted_ = options_.on_text(piece);
  }
  const GenerateOptions& options_;
  std::optional<Detokenizer> detokenizer_;
  StopMatcher stops_;
  std::string text_;
  bool wanted_ = true;
};

// The token after a step: chosen from the best logits where they are enough, else from the row
// where it lies; for a callback the row is copied first.
class NextToken {
 public:
  NextToken(const Model::State& model, const GenerateOptions& options, Sampler& sampler)
      : vocabulary_(model.vocab_size), copies_(options.on_logits != nullptr), sampler_(sampler) {
    if (!copies_ && model.executor->CanRank()) best_ = sampler.BestNeeded(vocabulary_);
  }
  // As StepInputs::best.
  int64_t best() const { return best_; }
  // Chooses only where a token is `wanted`.
  Status Read(const Executor::Outputs& outputs, bool wanted) {
    const std::span row(outputs.Get("logits").as<float>(), static_cast<size_t>(vocabulary_));
    if (copies_)
      logits_.assign(row.begin(), row.end());
    else if (wanted)
      id_ = best_ ? sampler_.NextOfBest(outputs.Best(0)) : sampler_.Next(row);
    return OkStatus();
  }
  std::span<const float> logits() const { return logits_; }
  int32_t Take() { return copies_ ? sampler_.Next(logits_) : id_; }

 private:
  const int64_t vocabulary_;
  const bool copies_;
  Sampler& sampler_;
  int64_t best_ = 0;
  int32_t id_ = 0;
  std::vector<float> logits_;
};

std::vector<int32_t> EndIds(const Model::State& model) {
  std::vector<int32_t> ends;
  const Json& generation = model.settings().at("generation");
  for (const Json& id : generation.value("eos_token_ids", Json::array()))
    if (id.is_number_integer()) ends.push_back(id.get<int32_t>());
  if (model.tokenizer)
    ends.insert(ends.end(), model.tokenizer->special().end.begin(),
                model.tokenizer->special().end.end());
  return ends;
}

}  // namespace

Result<Generation> Generator::Generate(std::span<const int32_t> prompt_ids,
                                       const GenerateOptions& options) try {
  State& s = *state_;
  TBOOST_RETURN_IF_ERROR(s.CheckPrompt(prompt_ids));
  TBOOST_RETURN_IF_ERROR(CheckSampling(options.sampling));
  Generation out;
  out.prompt_tokens = static_cast<int64_t>(prompt_ids.size());
  out.reused_tokens = s.ReuseCommonPrefix(prompt_ids);
  Sampler sampler(options.sampling);
  sampler.SeePrompt(prompt_ids);
  const std::vector<int32_t> ends = options.ignore_eos ? std::vector<int32_t>{} : EndIds(s.model);
  AnswerText text(s.model.tokenizer ? &*s.model.tokenizer : nullptr, options);

  bool more = options.max_tokens > 0;
  NextToken next(s.model, options, sampler);
  const auto read = [&](const Executor::Outputs& outputs) { return next.Read(outputs, more); };
  const auto start = std::chrono::steady_clock::now();
  Status status = s.Prefill(prompt_ids.subspan(out.reused_tokens), next.best(), options, read);
  out.prefill_seconds = SecondsSince(start);
  const auto decode_start = std::chrono::steady_clock::now();
  out.finish_reason = FinishReason::kLength;
  while (status.ok()) {
    if (options.on_logits) status = options.on_logits(next.logits());
    if (!status.ok() || !more) break;
    const int32_t id = next.Take();
    if (std::find(ends.begin(), ends.end(), id) != ends.end()) {
      out.finish_reason = FinishReason::kStop;
      break;
    }
    out.ids.push_back(id);
    more = static_cast<int64_t>(out.ids.size()) < options.max_tokens;
    if (!text.Push(id)) {
      out.finish_reason = FinishReason::kStop;
      more = false;
    } else if (!text.wanted()) {
      out.finish_reason = FinishReason::kCancelled;
      more = false;
    }
    // The last token runs for its logits alone.
    if (s.kv.length >= s.model.context_length || (!more && !options.on_logits)) break;
    const int32_t row = 0;
    status = s.Step({&id, 1}, {&row, 1}, next.best(), options.cancel, read);
  }
  out.decode_seconds = SecondsSince(decode_start);
  if (status.code() == StatusCode::kCancelled) {
    out.finish_reason = FinishReason::kCancelled;
    status = OkStatus();
  }
  TBOOST_RETURN_IF_ERROR(status);
  text.Finish();
  out.text = text.Take();
  return out;
} catch (const std::bad_alloc&) {
  return ResourceExhaustedError("not enough memory to generate");
}

Status Generator::Score(
    std::span<const int32_t> ids,
    const std::function<Status(int64_t first, int64_t rows, const float* logits)>& read) try {
  State& s = *state_;
  TBOOST_RETURN_IF_ERROR(s.CheckPrompt(ids));
  s.Truncate(0);
  std::vector<int32_t> rows;
  for (size_t first = 0; first < ids.size(); first += kScoreRows) {
    const auto step = ids.subspan(first, std::min<size_t>(kScoreRows, ids.size() - first));
    rows.resize(step.size());
    for (size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<int32_t>(i);
    TBOOST_RETURN_IF_ERROR(s.Step(step, rows, 0, nullptr, [&](const Executor::Outputs& outputs) {
      return read(static_cast<int64_t>(first), static_cast<int64_t>(step.size()),
                  outputs.Get("logits").as<const float>());
    }));
  }
  return OkStatus();
} catch (const std::bad_alloc&) {
  return ResourceExhaustedError("not enough memory for the logits");
}

}  // namespace tboost
