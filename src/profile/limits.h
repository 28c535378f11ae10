// Limits: what this machine can do at most, measured: the yardstick that other figures are shares
// of.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/cpu_features.h"
#include "src/base/status.h"
#include "src/parallel/thread_pool.h"
#include "src/tensor/dtype.h"

namespace tboost {

// Operations a second (a multiply-add is two) of one kind of instruction, all threads together.
struct PeakRate {
  Isa isa = Isa::kBaseline;
  DType type = DType::kF32;  // kF32, kBF16 or kI8
  double per_second = 0;
};

// Bytes a second that all threads together read from one level, each from memory of its own.
struct ReadRate {
  std::string level;   // "L1", "L2", "L3", "memory"
  uint64_t holds = 0;  // bytes, all threads together; of memory: no bound
  double bytes_per_second = 0;
};

struct Limits {
  int threads = 1;
  Isa isa = Isa::kBaseline;     // the best measured
  std::vector<PeakRate> peaks;  // where a type has several, the best comes last
  std::vector<ReadRate> reads;  // nearest first; never empty
  double barrier_seconds = 0;   // the median of an empty barrier of the pool

  // Of the best instruction set for a type; that of f32 where none is for it.
  double Peak(DType type) const;
  // Of the nearest level that holds so many bytes.
  double ReadBandwidth(double bytes) const;
  // The least time that a job can take: so many operations, so many bytes of constants read from
  // where `constants_of_model` bytes fit, and the other bytes from where they fit.
  double LeastSeconds(DType type, double operations, double constants, double constants_of_model,
                      double others) const;
};

// Measures with the threads of the pool, on these instruction sets (SelectedIsas()): about a
// second. Each figure is the best of several runs, so that a busy moment does not lower it.
Result<Limits> MeasureLimits(ThreadPool& pool, std::span<const Isa> isas);

}  // namespace tboost
