// What `tboost bench` measures.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/function_ref.h"
#include "src/profile/limits.h"
#include "tboost/model.h"
#include "tools/common.h"

namespace tboost {

// How often a case runs.
struct Repeats {
  int warmup = 1;
  int count = 0;  // 0: as many as fit the budget, 1 to 100
  double budget_s = 2;
};

// One case measured. Values are milliseconds of a run or tokens a second.
struct Measurement {
  std::string name;  // "b1s128", "ragged", "load", "pp512", "tg64", "tg64x8"
  const char* unit;  // "med_ms" or "tok_s"
  std::vector<double> values;
  double peak_rss_mb = 0;   // of the process so far; of "load": of its processes
  double tokens = 0;        // of one value, where it is a rate
  int64_t runs = 0;         // of the case, those that warmed up included
  int64_t step_tokens = 0;  // only steps of so many tokens were timed; 0: all
  double operations = 0;    // of one value, where it is the time of a kernel
  double planned_mb = 0;    // memory of the case by the model's plan; 0: none

  bool is_time() const { return std::string_view(unit) == "med_ms"; }
};

// Calls `once`, which gives the value of one run, as often as `repeats` says. kCancelled when
// interrupted.
Result<std::vector<double>> Repeat(const Repeats& repeats, FunctionRef<Result<double>()> once);

// Embeds sequences of these lengths, of random tokens, in one call: milliseconds.
Result<Measurement> MeasureEmbedding(const Model& model, std::string name,
                                     const std::vector<int64_t>& lengths, const Repeats& repeats);
// Runs a prompt of so many random tokens from nothing: tokens a second.
Result<Measurement> MeasurePrefill(const Model& model, int64_t tokens, const Repeats& repeats);
// Decodes 64 tokens after a context of 64 in so many sequences, a token of each in every step:
// tokens a second of one sequence.
Result<Measurement> MeasureDecode(const Model& model, int streams, const Repeats& repeats);
inline constexpr int64_t kDecodeContext = 64;
inline constexpr int64_t kDecodeTokens = 64;

// Single kernels, without a model.
struct KernelFlags {
  std::vector<std::string> products, attentions;  // profile/kernel_jobs.h has their forms
  bool gelu = false, causal = false;
  int64_t cycle_mb = 0;
};
// Measures and prints each of them; with `limits` also the share of those.
Status RunKernels(const KernelFlags& flags, const Runtime::State& runtime, const Repeats& repeats,
                  const Limits* limits);

// From the start of a process of this program until it could run the model: milliseconds. The
// process runs `tboost bench MODEL --ready-fd N`, which calls ReportReady when the model is loaded.
Result<Measurement> MeasureLoad(const ModelFlags& flags, const Repeats& repeats);
Status ReportReady(int fd);

}  // namespace tboost
