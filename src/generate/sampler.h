// Chooses the next token from a row of logits.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "src/tensor/candidate.h"
#include "tboost/generate.h"

namespace tboost {

Status CheckSampling(const SamplingOptions& options);

// State of one request: its random numbers and the tokens it has seen. The same options and the
// same rows give the same tokens, whatever else runs. Not thread-safe.
class Sampler {
 public:
  explicit Sampler(const SamplingOptions& options) : options_(options) {}

  // Tokens of the prompt count for the repetition penalty alone.
  void SeePrompt(std::span<const int32_t> ids);
  // Chooses from `logits`, which penalties change in place.
  int32_t Next(std::span<float> logits);
  // How many of the largest logits are enough to choose from; 0: the whole row is needed.
  int64_t BestNeeded(int64_t vocabulary) const;
  // As Next, where BestNeeded() is not 0, from at least that many of the largest of a row, in no
  // order, and whatever candidates without an id are among them.
  int32_t NextOfBest(std::span<const Candidate> best);

 private:
  void Penalise(std::span<float> logits) const;
  int32_t Draw(std::span<const float> logits);
  int32_t Choose(double total);
  void Weigh();
  void SelectTop(std::span<const float> logits, size_t count);
  double Uniform();

  SamplingOptions options_;
  std::unordered_map<int32_t, int> prompt_, generated_;  // token: how often
  std::vector<Candidate> candidates_;
  std::vector<double> weights_;
  uint64_t draws_ = 0;
};

// The index of the largest; of equal ones the first. NaN is never chosen unless there is nothing
// else.
int32_t ArgMax(std::span<const float> values);

}  // namespace tboost
