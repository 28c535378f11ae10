#include "tools/bench_cases.h"

#include <algorithm>
#include <chrono>
#include <numeric>

#include "src/base/random.h"
#include "src/generate/model_state.h"
#include "src/generate/sampler.h"
#include "tboost/embed.h"
#include "tboost/generate.h"
#include "tools/signals.h"

namespace tboost {
namespace {

constexpr int kMostRepeats = 100;

using Clock = std::chrono::steady_clock;
double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// The same random tokens in every run of the program.
std::vector<int32_t> RandomIds(const Model& model, int64_t count, uint64_t stream) {
  const HashRandom random(1, stream);
  std::vector<int32_t> ids(static_cast<size_t>(count));
  for (size_t i = 0; i < ids.size(); ++i)
    ids[i] = static_cast<int32_t>(random.Below(i, static_cast<uint32_t>(model.vocab_size())));
  return ids;
}

// Sequences that are decoded side by side.
class Streams {
 public:
  Streams(const Model& model, int count) : state_(model.state()), sequences_(count), next_(count) {
    for (int i = 0; i < count; ++i)
      prompts_.push_back(RandomIds(model, kDecodeContext, static_cast<uint64_t>(i)));
  }
  ~Streams() {
    for (KvSequence& sequence : sequences_) state_.kv_pool->Truncate(sequence, 0);
  }
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;

  // Reads the contexts of all sequences.
  Status Prefill() {
    for (size_t i = 0; i < sequences_.size(); ++i) {
      const SequenceStep step{prompts_[i], &sequences_[i]};
      const int32_t last = static_cast<int32_t>(prompts_[i].size()) - 1;
      TBOOST_RETURN_IF_ERROR(Step({&step, 1}, {&last, 1}, {&next_[i], 1}));
    }
    return OkStatus();
  }

  // One more token of each.
  Status Decode() {
    std::vector<SequenceStep> steps;
    std::vector<int32_t> rows(sequences_.size());
    std::iota(rows.begin(), rows.end(), 0);
    const std::vector<int32_t> ids = next_;
    for (size_t i = 0; i < sequences_.size(); ++i)
      steps.push_back({std::span(ids).subspan(i, 1), &sequences_[i]});
    return Step(steps, rows, next_);
  }

 private:
  // Runs a step and chooses the likeliest token of each row.
  Status Step(std::span<const SequenceStep> steps, std::span<const int32_t> rows,
              std::span<int32_t> chosen) {
    for (const SequenceStep& step : steps)
      TBOOST_RETURN_IF_ERROR(
          state_.kv_pool->Reserve(*step.kv, static_cast<int64_t>(step.ids.size())));
    StepInputs inputs;
    inputs.sequences = steps;
    inputs.output_rows = rows;
    inputs.best = state_.executor->CanRank() ? 1 : 0;
    inputs.cancel = &Interrupted();
    return state_.executor->Run(inputs, [&](const Executor::Outputs& outputs) {
      float* logits = outputs.Get("logits").as<float>();
      const auto width = static_cast<size_t>(state_.vocab_size);
      for (size_t i = 0; i < rows.size(); ++i)
        chosen[i] = inputs.best ? Sampler({}).NextOfBest(outputs.Best(static_cast<int64_t>(i)))
                                : ArgMax({logits + i * width, width});
      return OkStatus();
    });
  }

  Model::State& state_;
  std::vector<KvSequence> sequences_;
  std::vector<int32_t> next_;
  std::vector<std::vector<int32_t>> prompts_;
};

}  // namespace

Result<std::vector<double>> Repeat(const Repeats& repeats, FunctionRef<Result<double>()> once) {
  for (int i = 0; i < repeats.warmup; ++i) TBOOST_RETURN_IF_ERROR(once().status());
  std::vector<double> values;
  const auto start = Clock::now();
  const auto more = [&] {
    const int done = static_cast<int>(values.size());
    if (repeats.count > 0) return done < repeats.count;
    return done == 0 || (done < kMostRepeats && SecondsSince(start) < repeats.budget_s);
  };
  while (more()) {
    TBOOST_ASSIGN_OR_RETURN(const double value, once());
    values.push_back(value);
    if (Interrupted().cancelled()) return CancelledError("interrupted");
  }
  return values;
}

Result<Measurement> MeasureEmbedding(const Model& model, std::string name,
                                     const std::vector<int64_t>& lengths, const Repeats& repeats) {
  std::vector<std::vector<int32_t>> ids;
  for (size_t i = 0; i < lengths.size(); ++i) {
    if (lengths[i] < 1 || lengths[i] > model.context_length())
      return OutOfRangeError("a sequence of {} tokens, expected 1 to {}", lengths[i],
                             model.context_length());
    ids.push_back(RandomIds(model, lengths[i], i));
  }
  EmbedOptions options;
  options.cancel = &Interrupted();
  TBOOST_ASSIGN_OR_RETURN(std::vector<double> values, Repeat(repeats, [&]() -> Result<double> {
                            const auto start = Clock::now();
                            TBOOST_RETURN_IF_ERROR(EmbedIds(model, ids, options).status());
                            return SecondsSince(start) * 1e3;
                          }));
  const auto runs = repeats.warmup + static_cast<int64_t>(values.size());
  return Measurement{std::move(name), "med_ms", std::move(values), PeakMemoryMb(), 0, runs};
}

Result<Measurement> MeasurePrefill(const Model& model, int64_t tokens, const Repeats& repeats) {
  const std::vector<int32_t> ids = RandomIds(model, tokens, 0);
  Generator generator(model);
  GenerateOptions options;
  options.max_tokens = 0;
  options.cancel = &Interrupted();
  TBOOST_ASSIGN_OR_RETURN(std::vector<double> values, Repeat(repeats, [&]() -> Result<double> {
                            generator.Reset();
                            TBOOST_ASSIGN_OR_RETURN(const Generation done,
                                                    generator.Generate(ids, options));
                            return static_cast<double>(tokens) / done.prefill_seconds;
                          }));
  const auto runs = repeats.warmup + static_cast<int64_t>(values.size());
  return Measurement{fmt::format("pp{}", tokens), "tok_s", std::move(values), PeakMemoryMb(),
                     static_cast<double>(tokens), runs};
}

Result<Measurement> MeasureDecode(const Model& model, int streams, const Repeats& repeats) {
  TBOOST_ASSIGN_OR_RETURN(std::vector<double> values, Repeat(repeats, [&]() -> Result<double> {
                            Streams sequences(model, streams);
                            TBOOST_RETURN_IF_ERROR(sequences.Prefill());
                            const auto start = Clock::now();
                            for (int64_t i = 0; i < kDecodeTokens; ++i)
                              TBOOST_RETURN_IF_ERROR(sequences.Decode());
                            return static_cast<double>(kDecodeTokens) / SecondsSince(start);
                          }));
  const std::string name = streams == 1 ? fmt::format("tg{}", kDecodeTokens)
                                        : fmt::format("tg{}x{}", kDecodeTokens, streams);
  const auto runs = repeats.warmup + static_cast<int64_t>(values.size());
  return Measurement{name, "tok_s", std::move(values), PeakMemoryMb(), kDecodeTokens,
                     runs, streams};
}

}  // namespace tboost
