#include "src/generate/sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "src/base/random.h"
#include "src/formats/test_bytes.h"

namespace tboost {
namespace {

using testing::FailsWith;

std::vector<float> RandomLogits(size_t count, uint64_t stream = 0) {
  const HashRandom random(7, stream);
  std::vector<float> out(count);
  for (size_t i = 0; i < count; ++i) out[i] = 2 * random.Normal(i);
  return out;
}

// The probability of every token, by the definitions of SamplingOptions.
std::vector<double> Probabilities(const std::vector<float>& logits, const SamplingOptions& o) {
  std::vector<size_t> order(logits.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return logits[a] > logits[b]; });
  if (o.top_k > 0) order.resize(std::min<size_t>(order.size(), o.top_k));
  std::vector<double> out(logits.size());
  double total = 0, kept = 0;
  const double largest = logits[order[0]];
  for (size_t id : order) total += std::exp((logits[id] - largest) / o.temperature);
  double before = 0;
  for (size_t id : order) {
    const double weight = std::exp((logits[id] - largest) / o.temperature);
    if (before < o.top_p * total && weight >= o.min_p) out[id] = weight, kept += weight;
    before += weight;
  }
  for (double& p : out) p /= kept;
  return out;
}

struct DrawCase {
  std::string_view name;
  SamplingOptions options;
  size_t vocabulary;
};

TEST(Sampler, DrawsFollowTheProbabilities) {
  const DrawCase cases[] = {
      {"temperature", {.temperature = 0.7}, 20},
      {"hot", {.temperature = 3}, 20},
      {"top_k", {.temperature = 1, .top_k = 5}, 20},
      {"top_p", {.temperature = 1, .top_p = 0.8}, 20},
      {"min_p", {.temperature = 1.5, .min_p = 0.2}, 20},
      {"all", {.temperature = 2, .top_k = 12, .top_p = 0.9, .min_p = 0.05}, 20},
      {"top_k of one", {.temperature = 1, .top_k = 1}, 20},
      {"more than are sorted at first", {.temperature = 20, .top_p = 0.99}, 600},
      {"top_k beyond the vocabulary", {.temperature = 1, .top_k = 1000}, 20}};
  for (const DrawCase& test : cases) {
    const std::vector<float> logits = RandomLogits(test.vocabulary);
    const std::vector<double> expected = Probabilities(logits, test.options);
    const int draws = test.vocabulary > 100 ? 6000 : 30000;
    std::vector<int> counts(logits.size());
    Sampler sampler(test.options);
    for (int i = 0; i < draws; ++i) {
      std::vector<float> row = logits;
      ++counts[sampler.Next(row)];
    }
    double chi_square = 0;
    int kinds = 0;
    for (size_t id = 0; id < counts.size(); ++id) {
      const double mean = expected[id] * draws;
      if (expected[id] == 0)
        EXPECT_EQ(counts[id], 0) << test.name << ": token " << id << " is cut off";
      else
        chi_square += (counts[id] - mean) * (counts[id] - mean) / mean, ++kinds;
    }
    // Mean kinds - 1, variance twice that: five deviations.
    EXPECT_LE(chi_square, kinds - 1 + 5 * std::sqrt(2.0 * kinds)) << test.name;
  }
}

TEST(Sampler, TheSeedAloneDecides) {
  const auto draw = [](uint64_t seed) {
    Sampler sampler({.temperature = 1, .seed = seed});
    std::vector<int32_t> out;
    for (int i = 0; i < 50; ++i) {
      std::vector<float> row = RandomLogits(100, i);
      out.push_back(sampler.Next(row));
    }
    return out;
  };
  EXPECT_EQ(draw(3), draw(3));
  EXPECT_NE(draw(3), draw(4));
}

TEST(Sampler, WithoutTemperatureTheLikeliest) {
  std::vector<float> row = RandomLogits(1000);
  const auto best = std::max_element(row.begin(), row.end()) - row.begin();
  EXPECT_EQ(Sampler({}).Next(row), best);
  std::vector<float> equal = {1, 3, 3, 2};
  EXPECT_EQ(ArgMax(equal), 1);
}

TEST(Sampler, TheBestAreFoundWhereverTheyLie) {
  // Ascending, descending and tied rows, longer than the blocks that they are looked through by.
  std::vector<float> up(1000), down(1000), tied(1000, 1);
  for (int i = 0; i < 1000; ++i) up[i] = static_cast<float>(i), down[i] = static_cast<float>(-i);
  EXPECT_EQ(ArgMax(up), 999);
  EXPECT_EQ(ArgMax(down), 0);
  EXPECT_EQ(ArgMax(tied), 0);
  tied[777] = 2;
  EXPECT_EQ(ArgMax(tied), 777);
  for (const std::vector<float>& row : {up, down, tied, RandomLogits(1000)}) {
    const SamplingOptions options = {.temperature = 1000, .top_k = 3};
    const std::vector<double> expected = Probabilities(row, options);
    std::set<int32_t> drawn;
    Sampler sampler(options);
    for (int i = 0; i < 200; ++i) {
      std::vector<float> copy = row;
      drawn.insert(sampler.Next(copy));
    }
    std::set<int32_t> best;
    for (int id = 0; id < 1000; ++id)
      if (expected[id] > 0) best.insert(id);
    EXPECT_EQ(drawn, best);
  }
}

TEST(Sampler, RepetitionPenaltyCountsPromptAndAnswerOnce) {
  Sampler sampler({.repetition_penalty = 2});
  const int32_t prompt[] = {0, 0, 1};
  sampler.SeePrompt(prompt);
  std::vector<float> row = {4, -1, 3, -5};
  EXPECT_EQ(sampler.Next(row), 2);
  EXPECT_EQ(row, (std::vector<float>{2, -2, 3, -5}));
  row = {4, -1, 3, -5};
  EXPECT_EQ(sampler.Next(row), 0);
  EXPECT_EQ(row, (std::vector<float>{2, -2, 1.5, -5}));
  row = {4, -1, 3, -5};
  sampler.Next(row);
  EXPECT_EQ(row[0], 2) << "seen in the prompt and in the answer";
}

TEST(Sampler, PresenceAndFrequencyCountTheAnswerAlone) {
  Sampler sampler({.presence_penalty = 1, .frequency_penalty = 0.5});
  const int32_t prompt[] = {1, 1, 1};
  sampler.SeePrompt(prompt);
  std::vector<float> row = {9, 1};
  EXPECT_EQ(sampler.Next(row), 0);
  EXPECT_EQ(row, (std::vector<float>{9, 1}));
  row = {9, 1};
  EXPECT_EQ(sampler.Next(row), 0);
  EXPECT_EQ(row, (std::vector<float>{7.5, 1}));
  row = {9, 1};
  sampler.Next(row);
  EXPECT_EQ(row, (std::vector<float>{7, 1}));
}

TEST(Sampler, NotANumberIsNeverChosen) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  const SamplingOptions options[] = {{},
                                     {.temperature = 1},
                                     {.temperature = 1, .top_k = 2},
                                     {.temperature = 1, .top_p = 0.5},
                                     {.temperature = 1, .min_p = 0.5}};
  for (const SamplingOptions& o : options) {
    Sampler sampler(o);
    for (int i = 0; i < 20; ++i) {
      std::vector<float> row = {nan, -infinity, 1, nan, -infinity};
      EXPECT_EQ(sampler.Next(row), 2);
      row = {nan, 5, infinity};
      EXPECT_EQ(sampler.Next(row), 2);
    }
    // With nothing to choose from any token of the vocabulary will do.
    std::vector<float> none(3, nan), cold(3, -infinity);
    EXPECT_LT(static_cast<uint32_t>(sampler.Next(none)), 3u);
    EXPECT_LT(static_cast<uint32_t>(sampler.Next(cold)), 3u);
  }
}

TEST(Sampler, RefusesOptionsOutOfRange) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::pair<SamplingOptions, std::string_view> cases[] = {
      {{.temperature = -1}, "temperature"},
      {{.temperature = nan}, "temperature"},
      {{.top_k = -1}, "top_k"},
      {{.top_p = 0}, "top_p"},
      {{.top_p = 1.5}, "top_p"},
      {{.top_p = nan}, "top_p"},
      {{.min_p = -0.1}, "min_p"},
      {{.min_p = 2}, "min_p"},
      {{.repetition_penalty = 0}, "repetition"},
      {{.repetition_penalty = nan}, "repetition"},
      {{.presence_penalty = nan}, "presence"},
      {{.frequency_penalty = nan}, "frequency"}};
  for (const auto& [options, name] : cases)
    EXPECT_THAT(CheckSampling(options), FailsWith(StatusCode::kInvalidArgument, name));
  EXPECT_TRUE(CheckSampling({}).ok());
}

}  // namespace
}  // namespace tboost
