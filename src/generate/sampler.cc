#include "src/generate/sampler.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "src/base/random.h"
#include "src/base/status.h"

namespace tboost {
namespace {

// Without top-k, a set this large holds all but a sliver of the probability; only when it does not
// is the whole row sorted.
constexpr size_t kFirstCandidates = 256;

// More than these are sought in the whole row.
constexpr int64_t kMostBest = 128;

bool Before(const Candidate& a, const Candidate& b) { return a.Before(b); }

// Rows are looked through by blocks, most of which hold nothing of interest.
constexpr size_t kBlock = 256;

// The largest number, whatever is beside it that is none; -infinity where there is none.
float Largest(std::span<const float> values) {
  constexpr size_t kLanes = 16;
  std::array<float, kLanes> lanes;
  lanes.fill(-INFINITY);
  size_t i = 0;
  for (; i + kLanes <= values.size(); i += kLanes)
    for (size_t lane = 0; lane < kLanes; ++lane)
      lanes[lane] = values[i + lane] > lanes[lane] ? values[i + lane] : lanes[lane];
  for (; i < values.size(); ++i) lanes[0] = values[i] > lanes[0] ? values[i] : lanes[0];
  for (size_t lane = 1; lane < kLanes; ++lane)
    lanes[0] = lanes[lane] > lanes[0] ? lanes[lane] : lanes[0];
  return lanes[0];
}

}  // namespace

Status CheckSampling(const SamplingOptions& o) {
  const auto check = [](bool ok, std::string_view name, double value, std::string_view range) {
    return ok ? OkStatus() : InvalidArgumentError("{} is {}, expected {}", name, value, range);
  };
  TBOOST_RETURN_IF_ERROR(check(o.temperature >= 0 && std::isfinite(o.temperature), "temperature",
                               o.temperature, "0 or more"));
  TBOOST_RETURN_IF_ERROR(check(o.top_k >= 0, "top_k", static_cast<double>(o.top_k), "0 or more"));
  TBOOST_RETURN_IF_ERROR(
      check(o.top_p > 0 && o.top_p <= 1, "top_p", o.top_p, "above 0, at most 1"));
  TBOOST_RETURN_IF_ERROR(check(o.min_p >= 0 && o.min_p <= 1, "min_p", o.min_p, "0 to 1"));
  TBOOST_RETURN_IF_ERROR(check(o.repetition_penalty > 0 && std::isfinite(o.repetition_penalty),
                               "repetition_penalty", o.repetition_penalty, "above 0"));
  TBOOST_RETURN_IF_ERROR(
      check(std::isfinite(o.presence_penalty), "presence_penalty", o.presence_penalty, "a number"));
  return check(std::isfinite(o.frequency_penalty), "frequency_penalty", o.frequency_penalty,
               "a number");
}

int32_t ArgMax(std::span<const float> values) {
  float largest = -INFINITY;
  size_t first = 0;  // of the block that has it
  for (size_t i = 0; i < values.size(); i += kBlock) {
    const float block = Largest(values.subspan(i, std::min(kBlock, values.size() - i)));
    if (block > largest) largest = block, first = i;
  }
  // Where nothing is larger than that, the first number that there is.
  const auto found =
      std::find_if(values.begin() + first, values.end(), [&](float x) { return x == largest; });
  return found == values.end() ? 0 : static_cast<int32_t>(found - values.begin());
}

void Sampler::SeePrompt(std::span<const int32_t> ids) {
  for (int32_t id : ids) ++prompt_[id];
}

void Sampler::Penalise(std::span<float> logits) const {
  const auto repeat = [&](int32_t id) {
    float& logit = logits[id];
    const auto penalty = static_cast<float>(options_.repetition_penalty);
    logit = logit > 0 ? logit / penalty : logit * penalty;
  };
  if (options_.repetition_penalty != 1) {
    for (const auto& [id, count] : prompt_) repeat(id);
    for (const auto& [id, count] : generated_)
      if (!prompt_.contains(id)) repeat(id);
  }
  for (const auto& [id, count] : generated_)
    logits[id] -=
        static_cast<float>(options_.presence_penalty + options_.frequency_penalty * count);
}

int32_t Sampler::Next(std::span<float> logits) {
  Penalise(logits);
  const int32_t id = options_.temperature == 0 ? ArgMax(logits) : Draw(logits);
  ++generated_[id];
  return id;
}

// Uniform in [0, 1) by request seed and number of the draw.
double Sampler::Uniform() {
  return static_cast<double>(HashRandom(options_.seed, 0).Bits(draws_++) >> 11) * 0x1p-53;
}

// The `count` largest, in descending order; equal logits in order of their ids.
void Sampler::SelectTop(std::span<const float> logits, size_t count) {
  candidates_.clear();
  // Of those that come later, only larger ones than `least` are of interest.
  float least = -INFINITY;
  const auto keep_best = [&] {
    if (candidates_.size() < count) return;
    std::nth_element(candidates_.begin(), candidates_.begin() + (count - 1), candidates_.end(),
                     Before);
    candidates_.resize(count);
    least = candidates_.back().value;
  };
  for (size_t i = 0; i < logits.size(); i += kBlock) {
    const size_t end = std::min(i + kBlock, logits.size());
    const bool full = candidates_.size() >= count;
    if (full && !(Largest(logits.subspan(i, end - i)) > least)) continue;
    for (size_t id = i; id < end; ++id)
      if (full ? logits[id] > least : !std::isnan(logits[id]))
        candidates_.push_back({logits[id], static_cast<int32_t>(id)});
    if (candidates_.size() >= 2 * count || !full) keep_best();
  }
  keep_best();
  std::sort(candidates_.begin(), candidates_.end(), Before);
}

// The weights of the candidates, relative to the first.
void Sampler::Weigh() {
  weights_.clear();
  for (const Candidate& c : candidates_)
    weights_.push_back(
        std::exp((static_cast<double>(c.value) - candidates_[0].value) / options_.temperature));
}

int32_t Sampler::Draw(std::span<const float> logits) {
  const double max = logits[ArgMax(logits)];
  if (!std::isfinite(max)) return ArgMax(logits);
  const auto limit = static_cast<size_t>(options_.top_k);
  if (limit > 0 && limit < logits.size()) {
    SelectTop(logits, limit);
    Weigh();
    return Choose(std::accumulate(weights_.begin(), weights_.end(), 0.0));
  }
  double total = 0;
  for (float logit : logits)
    if (!std::isnan(logit)) total += std::exp((logit - max) / options_.temperature);
  for (size_t count = kFirstCandidates;; count = logits.size()) {
    SelectTop(logits, count);
    Weigh();
    // Enough when the cut by top_p or min_p falls inside, or everything is there.
    const double sum = std::accumulate(weights_.begin(), weights_.end(), 0.0);
    const bool cut = sum >= options_.top_p * total * (1 - 1e-9) || weights_.back() < options_.min_p;
    if (cut || count >= logits.size()) return Choose(total);
  }
}

// Draws one of the candidates that top_p and min_p leave; probabilities are shares of `total`.
int32_t Sampler::Choose(double total) {
  double kept = 0;
  size_t n = 0;
  while (n < weights_.size() &&
         (n == 0 || (kept < options_.top_p * total && weights_[n] >= options_.min_p)))
    kept += weights_[n++];
  double target = Uniform() * kept;
  for (size_t i = 0; i + 1 < n; ++i) {
    if (target < weights_[i]) return candidates_[i].id;
    target -= weights_[i];
  }
  return candidates_[n - 1].id;
}

int64_t Sampler::BestNeeded(int64_t vocabulary) const {
  const bool penalties = options_.repetition_penalty != 1 || options_.presence_penalty != 0 ||
                         options_.frequency_penalty != 0;
  if (penalties) return 0;
  if (options_.temperature == 0) return 1;
  return options_.top_k <= kMostBest && options_.top_k < vocabulary ? options_.top_k : 0;
}

int32_t Sampler::NextOfBest(std::span<const Candidate> best) {
  candidates_.clear();
  for (const Candidate& c : best)
    if (c.id >= 0) candidates_.push_back(c);
  if (candidates_.empty()) return 0;  // as of a row of nothing but -infinity
  const int64_t wanted = options_.temperature == 0 ? 1 : options_.top_k;
  const size_t count = std::min(candidates_.size(), static_cast<size_t>(wanted));
  std::partial_sort(candidates_.begin(), candidates_.begin() + count, candidates_.end(), Before);
  candidates_.resize(count);
  if (options_.temperature == 0 || !std::isfinite(candidates_[0].value)) return candidates_[0].id;
  Weigh();
  return Choose(std::accumulate(weights_.begin(), weights_.end(), 0.0));
}

}  // namespace tboost
