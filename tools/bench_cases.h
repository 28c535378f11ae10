// What `tboost bench` measures.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

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
  double peak_rss_mb = 0;  // of the process so far; of "load": of its processes
};

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

// From the start of a process of this program until it could run the model: milliseconds. The
// process runs `tboost bench MODEL --ready-fd N`, which calls ReportReady when the model is loaded.
Result<Measurement> MeasureLoad(const ModelFlags& flags, const Repeats& repeats);
Status ReportReady(int fd);

}  // namespace tboost
