#include "src/generate/sampler.h"

#include <algorithm>
#include <cmath>

#include "src/base/random.h"
#include "src/base/status.h"

namespace tboost {
namespace {

// Without top-k, a set this large holds all but a sliver of the probability; only when it does not
// is the whole row sorted.
constexpr size_t kFirstCandidates = 256;

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
  size_t best = 0;
  for (size_t i = 1; i < values.size(); ++i)
    if (values[i] > values[best] || (std::isnan(values[best]) && !std::isnan(values[i]))) best = i;
  return static_cast<int32_t>(best);
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
  const auto before = [](const Candidate& a, const Candidate& b) {
    return a.logit != b.logit ? a.logit > b.logit : a.id < b.id;
  };
  candidates_.clear();
  for (size_t i = 0; i < logits.size(); ++i)
    if (!std::isnan(logits[i])) candidates_.push_back({static_cast<int32_t>(i), logits[i]});
  count = std::min(count, candidates_.size());
  std::partial_sort(candidates_.begin(), candidates_.begin() + count, candidates_.end(), before);
  candidates_.resize(count);
}

int32_t Sampler::Draw(std::span<const float> logits) {
  const double max = logits[ArgMax(logits)];
  if (!std::isfinite(max)) return ArgMax(logits);
  const auto weight = [&](double logit) { return std::exp((logit - max) / options_.temperature); };
  // Probabilities are relative to the tokens that top-k leaves, or to all.
  double total = 0;
  size_t limit = options_.top_k > 0 ? static_cast<size_t>(options_.top_k) : logits.size();
  const bool all = limit >= logits.size();
  if (all)
    for (float logit : logits)
      if (!std::isnan(logit)) total += weight(logit);
  size_t count = std::min(limit, kFirstCandidates);
  for (;;) {
    SelectTop(logits, all ? count : limit);
    weights_.clear();
    double sum = 0;
    for (const Candidate& c : candidates_)
      weights_.push_back(weight(c.logit)), sum += weights_.back();
    if (!all) total = sum;
    // Enough when the cut by top_p or min_p falls inside, or everything is there.
    const bool cut = sum >= options_.top_p * total * (1 - 1e-9) || weights_.back() < options_.min_p;
    if (!all || cut || count >= logits.size()) break;
    count = logits.size();
  }
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

}  // namespace tboost
