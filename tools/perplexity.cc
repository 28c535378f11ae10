// tboost perplexity: how well a language model predicts a text.
#include <algorithm>
#include <cmath>
#include <optional>

#include "src/formats/npy/npy.h"
#include "tboost/generate.h"
#include "tools/command.h"
#include "tools/common.h"
#include "tools/progress.h"

namespace tboost {
namespace {

struct Flags {
  ModelFlags model;
  std::string file, logits;
  int64_t context = 0;
  bool json = false;
};

// -log of the probability that softmax(logits) gives to `id`.
double NegativeLogLikelihood(std::span<const float> logits, int32_t id) {
  const double max = *std::max_element(logits.begin(), logits.end());
  double sum = 0;
  for (float logit : logits) sum += std::exp(logit - max);
  return max + std::log(sum) - logits[id];
}

// Sums over the tokens of a text. Windows are scored one after another, each from nothing, and the
// first token of each, which has nothing before it, does not count.
class Scorer {
 public:
  Scorer(const Model& model, std::span<const int32_t> ids, std::optional<NpyWriter>& logits)
      : vocabulary_(model.vocab_size()), ids_(ids), logits_(logits), generator_(model) {}

  Status Run(int64_t window) {
    ProgressBar bar("scoring");
    const auto size = static_cast<size_t>(window);
    for (size_t start = 0; start < ids_.size(); start += size) {
      const auto part = ids_.subspan(start, std::min(size, ids_.size() - start));
      TBOOST_RETURN_IF_ERROR(
          generator_.Score(part, [&](int64_t first, int64_t rows, const float* logits) {
            if (!bar.Update(start + first, ids_.size())) return CancelledError("interrupted");
            return Add(part, first, rows, logits);
          }));
    }
    return OkStatus();
  }

  double sum() const { return sum_; }
  int64_t scored() const { return scored_; }

 private:
  Status Add(std::span<const int32_t> part, int64_t first, int64_t rows, const float* logits) {
    for (int64_t i = 0; i < rows; ++i) {
      const size_t next = static_cast<size_t>(first + i) + 1;
      if (next == part.size()) break;
      const std::span<const float> row(logits + i * vocabulary_, static_cast<size_t>(vocabulary_));
      sum_ += NegativeLogLikelihood(row, part[next]);
      ++scored_;
    }
    if (!logits_) return OkStatus();
    return logits_->Append({reinterpret_cast<const char*>(logits),
                            static_cast<size_t>(rows * vocabulary_) * sizeof(float)});
  }

  int64_t vocabulary_;
  std::span<const int32_t> ids_;
  std::optional<NpyWriter>& logits_;
  Generator generator_;
  double sum_ = 0;
  int64_t scored_ = 0;
};

Status Run(Flags& flags) {
  TBOOST_ASSIGN_OR_RETURN(const LoadedModel loaded, LoadModel(flags.model));
  const Model& model = *loaded.model;
  if (!model.generates())
    return UnsupportedError("{}: this model embeds text, it has no perplexity", flags.model.path);
  TBOOST_ASSIGN_OR_RETURN(const std::string text, ReadInput(flags.file));
  TBOOST_ASSIGN_OR_RETURN(const std::vector<int32_t> ids, model.Tokenize(text));
  if (ids.size() < 2) return OutOfRangeError("{}: fewer than two tokens", flags.file);
  const int64_t context = flags.context > 0 ? flags.context : model.context_length();
  if (context < 2 || context > model.context_length())
    return OutOfRangeError("--context is {}, expected 2 to {}", context, model.context_length());
  std::optional<NpyWriter> logits;
  if (!flags.logits.empty()) {
    TBOOST_ASSIGN_OR_RETURN(
        NpyWriter writer, NpyWriter::Create(flags.logits, DType::kF32, Shape{model.vocab_size()}));
    logits.emplace(std::move(writer));
  }
  Scorer scorer(model, ids, logits);
  TBOOST_RETURN_IF_ERROR(scorer.Run(context));
  if (logits) TBOOST_RETURN_IF_ERROR(logits->Finish());
  const double mean = scorer.sum() / static_cast<double>(scorer.scored());
  if (flags.json) {
    PrintJson({{"tokens", ids.size()},
               {"scored", scorer.scored()},
               {"nll", mean},
               {"perplexity", std::exp(mean)}});
  } else {
    Print(fmt::format(
        "{} tokens, {} scored: mean negative log-likelihood {:.5f}, perplexity {:.4f}\n",
        ids.size(), scorer.scored(), mean, std::exp(mean)));
  }
  return OkStatus();
}

Action Setup(CLI::App& app) {
  auto flags = std::make_shared<Flags>();
  AddModelFlags(app, flags->model);
  app.add_option("FILE", flags->file, "The text; \"-\": standard input")->required()->type_name("");
  app.add_option("--context", flags->context,
                 "Tokens of a window; each is scored from nothing (default: the model's context)")
      ->check(WholeNumber(0))
      ->type_name("N");
  app.add_option("--logits", flags->logits, "Write the logits after every token (.npy)")
      ->type_name("FILE");
  app.add_flag("--json", flags->json, "Print one JSON object");
  return [flags] { return Run(*flags); };
}

}  // namespace

const Command kPerplexityCommand = {"perplexity", "Measure how well a model predicts a text",
                                    "  tboost perplexity smollm2.om book.txt\n"
                                    "  tboost perplexity smollm2.om book.txt --context 512 --json\n"
                                    "  tboost perplexity smollm2.om page.txt --logits logits.npy\n",
                                    Setup};

}  // namespace tboost
