// tboost bench: how fast a model loads and runs here.
#include <algorithm>
#include <filesystem>

#include "src/base/memory_usage.h"
#include "src/generate/model_state.h"
#include "src/runtime/runtime_state.h"
#include "tools/bench_cases.h"
#include "tools/bench_report.h"
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
  KernelFlags kernels;
  bool limits = false, json = false;
  int ready_fd = -1;

  bool AnyCase() const {
    return batch > 0 || sequence > 0 || prompt > 0 || streams > 0 || !lengths.empty() || load;
  }
  bool AnyKernel() const { return !kernels.products.empty() || !kernels.attentions.empty(); }
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

// What the machine allows for a case, in the unit of its values: from the steps that it ran.
double LimitOf(const Measurement& measured, const std::vector<StepProfile>& steps,
               const Limits& limits) {
  double seconds = 0;
  for (const StepProfile& step : steps)
    if (measured.step_tokens == 0 || step.shape.tokens == measured.step_tokens)
      seconds += static_cast<double>(step.runs) * LeastSeconds(step, limits);
  seconds /= static_cast<double>(measured.runs);
  return measured.is_time() ? seconds * 1e3 : measured.tokens / seconds;
}

// What the plan says of the case's memory: weights, arena, keys and values.
double PlannedMb(const Flags& flags, const Model& model) {
  const MemoryPlan plan = model.memory();
  const int64_t tokens = flags.streams > 0 ? kDecodeContext + kDecodeTokens : flags.prompt;
  return static_cast<double>(plan.Peak(tokens, std::max(1, flags.streams)) - plan.fixed) / 1e6;
}

// Runs the chosen cases on a loaded model, each printed when done; with `limits` also explained.
Status RunCases(const Flags& flags, const LoadedModel& loaded, const Limits* limits) {
  const Model& model = *loaded.model;
  Executor& executor = *model.state().executor;
  if (limits) executor.EnableProfile();
  const auto print = [&](Result<Measurement> measured) {
    if (!measured.ok()) return measured.status();
    measured->planned_mb = PlannedMb(flags, model);
    double limit = 0;
    if (limits) {
      const std::vector<StepProfile> steps = executor.Profile();
      std::fputs(ExplainTables(steps, *limits).c_str(), stderr);
      limit = LimitOf(*measured, steps, *limits);
      executor.EnableProfile();
    }
    PrintMeasurement(JobName(flags.model.path), loaded.runtime->threads(), *measured, limit);
    return OkStatus();
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

// Measured before the cases; the peak memory counts from here on.
Result<Limits> LimitsHere(const Runtime::State& runtime) {
  TBOOST_ASSIGN_OR_RETURN(const std::vector<Isa> isas, SelectedIsas());
  TBOOST_ASSIGN_OR_RETURN(Limits limits, MeasureLimits(*runtime.pool, isas));
  ReturnFreeMemory();
  ResetPeakMemory();
  return limits;
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
    PrintMeasurement(JobName(flags.model.path), loaded.runtime->threads(), load, 0);
  }
  if (!flags.explain) return RunCases(flags, loaded, nullptr);
  TBOOST_ASSIGN_OR_RETURN(const Limits limits, LimitsHere(loaded.runtime->state()));
  return RunCases(flags, loaded, &limits);
}

// What needs no model: the limits, or single kernels.
Status RunWithoutModel(const Flags& flags) {
  TBOOST_ASSIGN_OR_RETURN(const std::unique_ptr<Runtime> runtime,
                          Runtime::Create({.threads = flags.model.threads}));
  Limits limits;
  if (flags.limits || flags.explain) {
    TBOOST_ASSIGN_OR_RETURN(limits, LimitsHere(runtime->state()));
  }
  if (flags.json) PrintJson(LimitsJson(limits));
  if (flags.limits && !flags.json) Print(LimitsTable(limits));
  return RunKernels(flags.kernels, runtime->state(), flags.repeats,
                    flags.explain ? &limits : nullptr);
}

Status RunAny(Flags& flags) {
  const bool without_model = flags.limits || flags.AnyKernel();
  if (without_model != flags.model.path.empty())
    return InvalidArgumentError("expected either a MODEL or --limits, --product or --attention");
  return without_model ? RunWithoutModel(flags) : Run(flags);
}

void AddKernelFlags(CLI::App& app, Flags& flags) {
  constexpr int64_t kMostMb = 1 << 14;
  app.add_option("--product", flags.kernels.products,
                 "Without a model: a matrix product alone, MxNxK or MxNxK:TYPE of weights")
      ->type_name("SIZES");
  app.add_flag("--gelu", flags.kernels.gelu, "Products with bias and GELU");
  app.add_option("--cycle", flags.kernels.cycle_mb,
                 "Products: further weights in turn until N MB have been read (default: the same)")
      ->check(WholeNumber(0, kMostMb))
      ->type_name("N");
  app.add_option("--attention", flags.kernels.attentions,
                 "Without a model: attention alone, HEADSxDIMxTOKENS")
      ->type_name("SIZES");
  app.add_flag("--causal", flags.kernels.causal, "Attention to earlier tokens only");
  CLI::Option* limits =
      app.add_flag("--limits", flags.limits, "Without a model: what this machine can do at most");
  app.add_flag("--json", flags.json, "The limits as JSON")->needs(limits);
}

Action Setup(CLI::App& app) {
  auto flags = std::make_shared<Flags>();
  AddModelFlags(app, flags->model);
  app.get_option("MODEL")->required(false);
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
  number("--reps", flags->repeats.count, kMost, "Repetitions (default: as many as fit --seconds)");
  app.add_option("--warmup", flags->repeats.warmup, "Repetitions before those")
      ->check(WholeNumber(0, kMost))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--seconds", flags->repeats.budget_s,
                 "Repeat for about so long, where --reps is not given")
      ->check(CLI::Range(0.0, 3600.0))
      ->type_name("S")
      ->capture_default_str();
  app.add_flag(
      "--explain", flags->explain,
      "Print time, rates and share of the machine's limit of each operator to standard error");
  AddKernelFlags(app, *flags);
  app.add_option("--ready-fd", flags->ready_fd, "Descriptor to tell that the model is loaded")
      ->group("");
  return [flags] { return RunAny(*flags); };
}

}  // namespace

const Command kBenchCommand = {"bench",
                               "Measure loading and running a model, single kernels, the machine",
                               "  tboost bench smollm2.om\n"
                               "  tboost bench smollm2.om --prompt 512 --streams 8 --threads 2\n"
                               "  tboost bench minilm.om --batch 32 --seq 128 --explain\n"
                               "  tboost bench minilm.om --load --reps 21\n"
                               "  tboost bench --limits\n"
                               "  tboost bench --product 128x3072x768 --gelu --explain\n"
                               "  tboost bench --attention 12x64x4096 --causal --explain\n",
                               Setup};

}  // namespace tboost
