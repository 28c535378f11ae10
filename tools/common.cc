#include "tools/common.h"

#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>

#include "src/base/file.h"
#include "src/base/memory_usage.h"
#include "src/compile/compile.h"
#include "tools/progress.h"
#include "tools/signals.h"

namespace tboost {

CLI::Validator WholeNumber(int64_t least, int64_t most) {
  const auto check = [least, most](const std::string& text) {
    int64_t value = 0;
    const char* const last = text.data() + text.size();
    const auto [end, error] = std::from_chars(text.data(), last, value);
    const bool valid = error == std::errc() && end == last && least <= value && value <= most;
    if (valid) return std::string();
    const bool bounded = most < std::numeric_limits<int64_t>::max();
    return fmt::format("expected a whole number from {}{}, got {}", least,
                       bounded ? fmt::format(" to {}", most) : "", text);
  };
  return CLI::Validator(check, "");
}

void AddThreadsFlag(CLI::App& app, int& threads) {
  app.add_option("--threads", threads, "Threads (default: what this process may use)")
      ->check(WholeNumber(0))
      ->type_name("N");
}

void AddDTypeFlag(CLI::App& app, std::string& dtype) {
  app.add_option("--dtype", dtype,
                 "Format of the matrices: keep, f32, bf16, f16, or int8 for products")
      ->check(CLI::IsMember(
          std::vector<std::string>(std::begin(kDTypeOptions), std::end(kDTypeOptions))))
      ->type_name("TYPE")
      ->capture_default_str();
}

void AddMaxContextFlag(CLI::App& app, int64_t& max_context) {
  app.add_option("--max-context", max_context,
                 "Tokens of one sequence, prompt and answer together (default: the model's)")
      ->check(WholeNumber(0))
      ->type_name("N");
}

void AddModelFlags(CLI::App& app, ModelFlags& flags) {
  app.add_option("MODEL", flags.path, "An .om file, a .gguf file or a Hugging Face folder")
      ->required()
      ->type_name("");
  AddThreadsFlag(app, flags.threads);
  AddDTypeFlag(app, flags.dtype);
  AddMaxContextFlag(app, flags.max_context);
  app.add_option("--kv-dtype", flags.kv_dtype,
                 "Format of cached keys and values: f32, bf16 or int8")
      ->check(CLI::IsMember({"f32", "bf16", "int8"}))
      ->type_name("TYPE")
      ->capture_default_str();
}

Result<LoadedModel> LoadModel(const ModelFlags& flags, int64_t max_sequences) {
  const auto start = std::chrono::steady_clock::now();
  if (flags.dtype != "keep" && IsOmFile(flags.path))
    return InvalidArgumentError("{}: --dtype is chosen when an .om is compiled", flags.path);
  LoadedModel loaded;
  TBOOST_ASSIGN_OR_RETURN(loaded.runtime, Runtime::Create({.threads = flags.threads}));
  ProgressBar bar("loading");
  LoadOptions options;
  options.dtype = flags.dtype;
  options.max_context = flags.max_context;
  options.kv_dtype = flags.kv_dtype;
  options.max_sequences = max_sequences;
  options.progress = [&](uint64_t done, uint64_t total) { return bar.Update(done, total); };
  TBOOST_ASSIGN_OR_RETURN(loaded.model, Model::Load(*loaded.runtime, flags.path, options));
  const std::chrono::duration<double, std::milli> elapsed =
      std::chrono::steady_clock::now() - start;
  loaded.load_ms = elapsed.count();
  return loaded;
}

Result<std::string> ReadInput(const std::string& path) {
  if (path != "-") return ReadFile(path);
  std::string text;
  char buffer[1 << 16];
  ssize_t n = 1;
  while (n != 0 && !Interrupted().cancelled()) {
    n = read(STDIN_FILENO, buffer, sizeof buffer);
    if (n > 0) text.append(buffer, static_cast<size_t>(n));
    if (n < 0 && errno != EINTR) return IoError("cannot read standard input");
  }
  if (Interrupted().cancelled()) return CancelledError("interrupted");
  return text;
}

std::vector<std::string> SplitLines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    lines.emplace_back(text.substr(0, end));
    if (end == text.npos) break;
    text.remove_prefix(end + 1);
  }
  return lines;
}

Result<std::vector<int32_t>> ParseIds(std::string_view text) {
  constexpr std::string_view kSeparators = ", \t\n";
  std::vector<int32_t> ids;
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(kSeparators), text.size()));
    if (text.empty()) return ids;
    const std::string_view word = text.substr(0, text.find_first_of(kSeparators));
    int32_t id = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), id);
    if (error == std::errc::result_out_of_range)
      return OutOfRangeError("token id {} is out of range", word);
    if (error != std::errc() || end != word.data() + word.size())
      return InvalidArgumentError("\"{}\" is no token id", word);
    ids.push_back(id);
    text.remove_prefix(word.size());
  }
}

void Print(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }

void PrintJson(const OrderedJson& json) {
  Print(json.dump(-1, ' ', false, OrderedJson::error_handler_t::replace) + "\n");
}

void PrintPrettyJson(const OrderedJson& json) {
  Print(json.dump(2, ' ', false, OrderedJson::error_handler_t::replace) + "\n");
}

std::string FormatBytes(uint64_t bytes) {
  static constexpr std::string_view kUnits[] = {"bytes", "kB", "MB", "GB", "TB"};
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  for (; value >= 1000 && unit + 1 < std::size(kUnits); ++unit) value /= 1000;
  return fmt::format("{:.{}f} {}", value, unit == 0 ? 0 : 1, kUnits[unit]);
}

double PeakMemoryMb() {
  return Round(static_cast<double>(ReadMemoryUsage().peak_resident) / 1e6, 1);
}

double Round(double value, int decimals) {
  const double scale = std::pow(10.0, decimals);
  return std::round(value * scale) / scale;
}

}  // namespace tboost
