// tboost bench: how fast a model loads and runs here.
#include <algorithm>
#include <filesystem>

#include "src/generate/model_state.h"
#include "tools/bench_cases.h"
#include "tools/command.h"
#include "tools/common.h"
#include "tools/explain.h"

namespace tboost {
namespace {

struct Flags {
  ModelFlags model;
  Repeats repeats;
  int64_t batch = 0, sequence = 0, prompt = 0;
  int streams = 0;
  std::string lengths;
  bool load = false, explain = false;
  int ready_fd = -1;

  bool AnyCase() const {
    return batch > 0 || sequence > 0 || prompt > 0 || streams > 0 || !lengths.empty() || load;
  }
};

// "models/SmolLM2.Q4_1.gguf" -> "SmolLM2.Q4_1"; a folder keeps its whole name.
std::string JobName(const std::string& model) {
  const std::filesystem::path path = std::filesystem::path(model).lexically_normal();
  const std::string name = (path.has_filename() ? path : path.parent_path()).filename().string();
  for (const char* ending : {".om", ".gguf"})
    if (name.ends_with(ending))
      return name.substr(0, name.size() - std::string_view(ending).size());
  return name;
}

void PrintMeasurement(const Flags& flags, int threads, const Measurement& measured) {
  std::vector<double> values = measured.values;
  std::sort(values.begin(), values.end());
  const size_t half = values.size() / 2;
  const double median = values.size() % 2 ? values[half] : (values[half - 1] + values[half]) / 2;
  PrintJson({{"job", JobName(flags.model.path)},
             {"case", measured.name},
             {"threads", threads},
             {measured.unit, Round(median, 3)},
             {"min", Round(values.front(), 3)},
             {"max", Round(values.back(), 3)},
             {"peak_rss_mb", Round(measured.peak_rss_mb, 1)}});
  std::fflush(stdout);
}

Result<std::vector<int64_t>> ReadLengths(const std::string& path) {
  TBOOST_ASSIGN_OR_RETURN(const std::string text, ReadInput(path));
  Result<std::vector<int32_t>> numbers = ParseIds(text);
  if (!numbers.ok()) return InvalidArgumentError("{}: expected one length a line", path);
  if (numbers->empty()) return InvalidArgumentError("{}: no lengths", path);
  return std::vector<int64_t>(numbers->begin(), numbers->end());
}

// The cases that were asked for; else those that tell most of this kind of model.
void ChooseCases(Flags& flags, bool generates) {
  if (flags.AnyCase()) {
    if (flags.batch > 0 && flags.sequence == 0) flags.sequence = 128;
    if (flags.sequence > 0 && flags.batch == 0) flags.batch = 1;
    return;
  }
  flags.load = true;
  if (generates) {
    flags.prompt = 512;
    flags.streams = 1;
  } else {
    flags.batch = 1;
    flags.sequence = 128;
  }
}

Status CheckCases(const Flags& flags, const Model& model) {
  const bool embedding = flags.batch > 0 || !flags.lengths.empty();
  const bool generating = flags.prompt > 0 || flags.streams > 0;
  if (model.generates() ? embedding : generating)
    return InvalidArgumentError("{}: this model {}", flags.model.path,
                                model.generates() ? "generates: use --prompt or --streams"
                                                  : "embeds: use --batch, --seq or --lengths");
  const int64_t longest =
      std::max(flags.prompt, flags.streams > 0 ? kDecodeContext + kDecodeTokens : 0);
  if (longest > model.context_length())
    return OutOfRangeError("a case takes {} tokens, the context holds {}", longest,
                           model.context_length());
  return OkStatus();
}

// Runs the chosen cases on a loaded model, each printed when done.
Status RunCases(const Flags& flags, const LoadedModel& loaded) {
  const Model& model = *loaded.model;
  const auto print = [&](const Result<Measurement>& measured) {
    if (measured.ok()) PrintMeasurement(flags, loaded.runtime->threads(), *measured);
    return measured.status();
  };
  if (flags.batch > 0) {
    const std::vector<int64_t> lengths(static_cast<size_t>(flags.batch), flags.sequence);
    TBOOST_RETURN_IF_ERROR(print(MeasureEmbedding(
        model, fmt::format("b{}s{}", flags.batch, flags.sequence), lengths, flags.repeats)));
  }
  if (!flags.lengths.empty()) {
    TBOOST_ASSIGN_OR_RETURN(const std::vector<int64_t> lengths, ReadLengths(flags.lengths));
    TBOOST_RETURN_IF_ERROR(print(MeasureEmbedding(model, "ragged", lengths, flags.repeats)));
  }
  if (flags.prompt > 0)
    TBOOST_RETURN_IF_ERROR(print(MeasurePrefill(model, flags.prompt, flags.repeats)));
  if (flags.streams > 0)
    TBOOST_RETURN_IF_ERROR(print(MeasureDecode(model, flags.streams, flags.repeats)));
  return OkStatus();
}

Status Run(Flags& flags) {
  if (flags.ready_fd >= 0) {
    TBOOST_RETURN_IF_ERROR(LoadModel(flags.model).status());
    return ReportReady(flags.ready_fd);
  }
  TBOOST_ASSIGN_OR_RETURN(const LoadedModel loaded,
                          LoadModel(flags.model, std::max(1, flags.streams)));
  ChooseCases(flags, loaded.model->generates());
  TBOOST_RETURN_IF_ERROR(CheckCases(flags, *loaded.model));
  if (flags.load) {
    TBOOST_ASSIGN_OR_RETURN(const Measurement load, MeasureLoad(flags.model, flags.repeats));
    PrintMeasurement(flags, loaded.runtime->threads(), load);
  }
  Executor& executor = *loaded.model->state().executor;
  if (flags.explain) executor.EnableProfile();
  TBOOST_RETURN_IF_ERROR(RunCases(flags, loaded));
  if (flags.explain) std::fputs(ExplainTable(executor.Profile()).c_str(), stderr);
  return OkStatus();
}

Action Setup(CLI::App& app) {
  auto flags = std::make_shared<Flags>();
  AddModelFlags(app, flags->model);
  // Sequences beyond these bounds only fill the memory.
  constexpr int64_t kMostSequences = 1 << 16, kMostStreams = 256, kMost = 1 << 30;
  const auto number = [&](const char* name, auto& value, int64_t most, const char* description) {
    app.add_option(name, value, description)->check(WholeNumber(1, most))->type_name("N");
  };
  number("--batch", flags->batch, kMostSequences, "Embed N sequences at once (case bNsS)");
  number("--seq", flags->sequence, kMost, "Tokens of each of them (default 128)");
  app.add_option("--lengths", flags->lengths,
                 "Embed sequences of these lengths, one a line (case ragged)")
      ->type_name("FILE");
  number("--prompt", flags->prompt, kMost, "Run a prompt of N tokens (case ppN)");
  number("--streams", flags->streams, kMostStreams,
         "Decode 64 tokens after 64, N sequences at once (case tg64 or tg64xN, per stream)");
  app.add_flag("--load", flags->load, "Time from process start to the first possible run");
  number("--reps", flags->repeats.count, kMost,
         "Repetitions (default: as many as fit two seconds)");
  app.add_option("--warmup", flags->repeats.warmup, "Repetitions before those")
      ->check(WholeNumber(0, kMost))
      ->type_name("N")
      ->capture_default_str();
  app.add_flag("--explain", flags->explain,
               "Print the time and rates of each operator to standard error");
  app.add_option("--ready-fd", flags->ready_fd, "Descriptor to tell that the model is loaded")
      ->group("");
  return [flags] { return Run(*flags); };
}

}  // namespace

const Command kBenchCommand = {"bench", "Measure loading and running a model",
                               "  tboost bench smollm2.om\n"
                               "  tboost bench smollm2.om --prompt 512 --streams 8 --threads 2\n"
                               "  tboost bench minilm.om --batch 32 --seq 128 --explain\n"
                               "  tboost bench minilm.om --load --reps 21\n",
                               Setup};

}  // namespace tboost
