// What several commands share: loading a model, standard input, printing.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/json.h"
#include "src/base/status.h"
#include "tboost/model.h"
#include "tboost/runtime.h"

namespace tboost {

// The options that say which model to load and how.
struct ModelFlags {
  std::string path;
  int threads = 0;
  std::string dtype = "keep";
  int64_t max_context = 0;
  std::string kv_dtype = "f32";
};
// Checks that an option's value is a whole number from `least` to `most`.
CLI::Validator WholeNumber(int64_t least, int64_t most = std::numeric_limits<int64_t>::max());
void AddThreadsFlag(CLI::App& app, int& threads);
void AddDTypeFlag(CLI::App& app, std::string& dtype);
void AddMaxContextFlag(CLI::App& app, int64_t& max_context);
// The positional MODEL and all of the above.
void AddModelFlags(CLI::App& app, ModelFlags& flags);

// A model and the runtime it runs on.
struct LoadedModel {
  std::unique_ptr<Runtime> runtime;
  std::unique_ptr<Model> model;
  double load_ms = 0;
};
// Shows a progress bar while a model that is no .om is compiled.
Result<LoadedModel> LoadModel(const ModelFlags& flags, int64_t max_sequences = 1);

// The contents of a file, or of standard input for "-". kCancelled when interrupted.
Result<std::string> ReadInput(const std::string& path);
// The lines of `text`: '\n' ends a line, so an empty line is an empty string and a final '\n'
// begins none.
std::vector<std::string> SplitLines(std::string_view text);
// Token ids from text such as "1,2,3" or "1 2 3".
Result<std::vector<int32_t>> ParseIds(std::string_view text);

// Writes to standard output; whether it arrived shows when the program ends.
void Print(std::string_view text);
// One line of JSON. Invalid UTF-8 is replaced.
void PrintJson(const OrderedJson& json);
// `json` over several indented lines.
void PrintPrettyJson(const OrderedJson& json);

// "63.3 MB": decimal units.
std::string FormatBytes(uint64_t bytes);
// The process's highest resident memory so far, in MB (10^6 bytes) with one decimal.
double PeakMemoryMb();
// `value` rounded to that many decimals: for JSON.
double Round(double value, int decimals);

}  // namespace tboost
