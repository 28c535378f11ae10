#include "src/profile/tune_tiles.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <set>

#include "src/generate/model_state.h"
#include "src/kernels/kernels.h"
#include "src/runtime/runtime_state.h"

namespace tboost {
namespace {

constexpr size_t kLeastRounds = 5, kMostRounds = 12;
constexpr double kLeastGain = 0.03;     // in the median of rounds
constexpr double kShareOfChoice = 0.7;  // of the time; the rest confirms

using Clock = std::chrono::steady_clock;

// A product as one of the choices of tiles had it: seconds of all its calls, by round.
struct Measured {
  TileHint tile;
  std::vector<double> seconds;
};
using Measurements = std::map<ProductKey, Measured>;

// The share of the time that `b` saves in the median of rounds, if it saves any in three of four.
double Gain(const Measured& a, const Measured& b) {
  if (a.tile.tile_m == b.tile.tile_m && a.tile.tile_n == b.tile.tile_n) return 0;
  std::vector<double> ratios;
  for (size_t i = 0; i < a.seconds.size(); ++i) ratios.push_back(b.seconds[i] / a.seconds[i]);
  std::ranges::sort(ratios);
  return ratios[ratios.size() * 3 / 4] < 1 ? 1 - ratios[ratios.size() / 2] : 0;
}

class Tuner {
 public:
  Tuner(const Model& model, double seconds, const Progress& progress)
      : model_(model.state()),
        total_(std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds))),
        progress_(progress) {}

  Result<TunedTiles> Run() {
    tuned_.hints.cpu = model_.runtime->state().topology.model_name;
    tuned_.hints.isa = model_.runtime->isa();
    std::set<int64_t> sizes = {1, 16, 128, model_.StepTokens()};
    sizes.erase(sizes.upper_bound(model_.context_length), sizes.end());
    while (!sizes.empty()) {
      // Larger steps get what smaller ones leave of the time.
      const Clock::time_point now = Clock::now();
      const Clock::duration share = (start_ + total_ - now) / static_cast<int64_t>(sizes.size());
      const int64_t tokens = sizes.extract(sizes.begin()).value();
      TBOOST_ASSIGN_OR_RETURN(const bool measured, TuneSteps(tokens, now, share));
      (measured ? tuned_.measured : tuned_.left).push_back(tokens);
    }
    tuned_.products = products_.size();
    return std::move(tuned_);
  }

 private:
  // False where the time does not suffice.
  Result<bool> TuneSteps(int64_t tokens, Clock::time_point start, Clock::duration share) {
    std::vector<TileChoice> choices(kernels::kTileRanks);
    for (int rank = 0; rank < kernels::kTileRanks; ++rank) choices[rank].rank = rank;
    const auto most = std::chrono::duration_cast<Clock::duration>(share * kShareOfChoice);
    TBOOST_ASSIGN_OR_RETURN(const auto by_rank, Measure(tokens, choices, start + most));
    if (by_rank.empty()) return false;
    std::vector<TileHint> hints;
    for (const auto& [product, computed] : by_rank[0]) {
      // The head has as many rows in steps of any size.
      if (!products_.insert(product).second) continue;
      double best = kLeastGain;
      for (const Measurements& other : by_rank) {
        const double gain = Gain(computed, other.at(product));
        if (gain <= best) continue;
        if (best == kLeastGain) hints.emplace_back();
        hints.back() = other.at(product).tile;
        best = gain;
      }
    }
    if (hints.empty()) return true;
    TBOOST_ASSIGN_OR_RETURN(const auto again,
                            Measure(tokens, {{}, {.hints = hints}}, start + share));
    if (again.empty()) return false;
    for (const TileHint& hint : hints) {
      const double gain = Gain(again[0].at(hint.product), again[1].at(hint.product));
      if (gain < kLeastGain) continue;
      tuned_.hints.products.push_back(hint);
      tuned_.gains.push_back(gain);
    }
    return true;
  }

  // Steps of so many tokens by turns, round by round: the products of each choice. Empty where
  // there is no time for the least number of rounds.
  Result<std::vector<Measurements>> Measure(int64_t tokens, const std::vector<TileChoice>& choices,
                                            Clock::time_point end) {
    std::vector<std::unique_ptr<Executor>> executors;
    for (const TileChoice& choice : choices) {
      executors.push_back(std::make_unique<Executor>(*model_.runtime, model_.om->program,
                                                     model_.om->weights.data(), pool(), choice));
      const Clock::time_point before = Clock::now();
      TBOOST_RETURN_IF_ERROR(Step(*executors.back(), tokens));
      const auto steps = static_cast<int64_t>(choices.size() * kLeastRounds);
      // The first may have read the weights from a disk: the second tells what a step takes.
      if (executors.size() == 2 && before + (Clock::now() - before) * steps > end)
        return std::vector<Measurements>();
    }
    std::vector<Measurements> measured(choices.size());
    for (size_t round = 0; round < kMostRounds; ++round) {
      if (round >= kLeastRounds && Clock::now() >= end) break;
      for (size_t i = 0; i < choices.size(); ++i) {
        // There and back: what drifts meets all alike.
        const size_t choice = round % 2 ? choices.size() - 1 - i : i;
        executors[choice]->EnableProfile();
        TBOOST_RETURN_IF_ERROR(Step(*executors[choice], tokens));
        for (const StepProfile& step : executors[choice]->Profile())
          AddRound(step, round, measured[choice]);
      }
    }
    return measured;
  }

  static void AddRound(const StepProfile& step, size_t round, Measurements& products) {
    for (const CallProfile& call : step.calls) {
      if (call.tile.tile_m == 0) continue;
      Measured& product = products[call.tile.product];
      product.tile = call.tile;
      product.tile.stored = true;
      product.seconds.resize(round + 1);
      product.seconds[round] += call.seconds;
    }
  }

  // One sequence from its start.
  Status Step(Executor& executor, int64_t tokens) {
    const std::chrono::duration<double, std::milli> done = Clock::now() - start_, total = total_;
    if (progress_ && !progress_(static_cast<uint64_t>(std::min(done, total).count()),
                                static_cast<uint64_t>(total.count())))
      return CancelledError("stopped on request");
    std::vector<int32_t> ids(static_cast<size_t>(tokens));
    for (size_t i = 0; i < ids.size(); ++i)
      ids[i] = static_cast<int32_t>(static_cast<int64_t>(i) % model_.vocab_size);
    KvSequence kv;
    if (pool()) TBOOST_RETURN_IF_ERROR(pool()->Reserve(kv, tokens));
    const SequenceStep sequence = {ids, pool() ? &kv : nullptr};
    const auto last = static_cast<int32_t>(tokens - 1);
    StepInputs inputs = {.sequences = {&sequence, 1}};
    if (pool()) inputs.output_rows = {&last, 1};
    const Status status = executor.Run(inputs, [](const Executor::Outputs&) { return OkStatus(); });
    if (pool()) pool()->Truncate(kv, 0);
    return status;
  }

  KvPool* pool() const { return model_.kv_pool ? &*model_.kv_pool : nullptr; }

  Model::State& model_;
  const Clock::time_point start_ = Clock::now();
  const Clock::duration total_;
  const Progress& progress_;
  std::set<ProductKey> products_;  // measured
  TunedTiles tuned_;
};

}  // namespace

Result<TunedTiles> TuneTiles(const Model& model, double seconds, const Progress& progress) {
  return Tuner(model, seconds, progress).Run();
}

}  // namespace tboost
