// tboost compile: from a model to an .om file.
#include "src/compile/compile.h"

#include <filesystem>
#include <optional>

#include "src/profile/tune_tiles.h"
#include "tools/command.h"
#include "tools/common.h"
#include "tools/model_report.h"
#include "tools/progress.h"

namespace tboost {
namespace {

struct Flags {
  ModelFlags model;
  std::string output, report;
  double tune_seconds = 0;
  CompileOptions options;
};

Status WriteReport(const std::string& path, const Json& report) {
  TBOOST_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(path));
  TBOOST_RETURN_IF_ERROR(
      file.Write(report.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"));
  return file.Commit();
}

// A few lines for people: what came in, what went out, what it takes to run.
Status PrintSummary(const Flags& flags, const Json& manifest) {
  const Result<LoadedModel> loaded = LoadModel({.path = flags.output});
  if (!loaded.ok()) return loaded.status();
  const Model& model = *loaded->model;
  std::error_code error;
  const uint64_t size = std::filesystem::file_size(flags.output, error);
  Print(fmt::format("{}: {}, {} of weights from {}\n", flags.output, FormatBytes(error ? 0 : size),
                    FormatBytes(model.memory().weights), FormatBytes(SourceBytes(manifest))));
  Print(FusionSummary(manifest));
  Print(PrecisionSummary(manifest));
  Print(MemorySummary(model));
  return OkStatus();
}

// Measures tiles with the model just written and puts what wins into it.
Status Tune(const Flags& flags, Json& manifest) {
  TBOOST_ASSIGN_OR_RETURN(const LoadedModel loaded, LoadModel({.path = flags.output}));
  const Result<TunedTiles> tuned = [&] {
    ProgressBar bar("tuning");
    return TuneTiles(*loaded.model, flags.tune_seconds,
                     [&](uint64_t done, uint64_t total) { return bar.Update(done, total); });
  }();
  if (!tuned.ok()) return tuned.status();
  Print(fmt::format("tuned {} products in steps of {} tokens: {} hints\n", tuned->products,
                    fmt::join(tuned->measured, ", "), tuned->gains.size()));
  for (size_t i = 0; i < tuned->gains.size(); ++i)
    Print(fmt::format("  {}, {:.1f} % less time\n", Describe(tuned->hints.products[i]),
                      100 * tuned->gains[i]));
  if (!tuned->left.empty())
    Print(fmt::format("  no time for steps of {} tokens\n", fmt::join(tuned->left, ", ")));
  if (tuned->gains.empty()) return OkStatus();
  TBOOST_ASSIGN_OR_RETURN(manifest, StoreTileHints(flags.output, tuned->hints));
  return OkStatus();
}

Status Run(Flags& flags) {
  if (IsOmFile(flags.model.path))
    return InvalidArgumentError("{}: this is an .om already", flags.model.path);
  std::error_code error;
  const uint64_t replaced = std::filesystem::file_size(flags.output, error);
  if (!error && replaced > 0 && !IsOmFile(flags.output))
    return InvalidArgumentError("{}: exists and is no .om file", flags.output);
  CompileOptions& options = flags.options;
  TBOOST_ASSIGN_OR_RETURN(options.dtype, ParseDTypeOption(flags.model.dtype));
  options.max_context = flags.model.max_context;
  Result<Json> manifest = [&] {
    ProgressBar bar("compiling");
    options.progress = [&](uint64_t done, uint64_t total) { return bar.Update(done, total); };
    return CompileToFile(flags.model.path, flags.output, options);
  }();
  if (!manifest.ok()) return manifest.status();
  if (flags.tune_seconds > 0) TBOOST_RETURN_IF_ERROR(Tune(flags, *manifest));
  if (!flags.report.empty()) TBOOST_RETURN_IF_ERROR(WriteReport(flags.report, *manifest));
  return PrintSummary(flags, *manifest);
}

Action Setup(CLI::App& app) {
  auto flags = std::make_shared<Flags>();
  app.add_option("MODEL", flags->model.path, "A .gguf file or a Hugging Face folder")
      ->required()
      ->type_name("");
  app.add_option("-o,--output", flags->output, "The .om file to write")
      ->required()
      ->type_name("FILE");
  AddDTypeFlag(app, flags->model.dtype);
  AddMaxContextFlag(app, flags->model.max_context);
  app.add_option("--report", flags->report, "Write what was done, as JSON, to this file")
      ->type_name("FILE");
  app.add_option("--optimization-level", flags->options.optimization_level,
                 "0: none, 1: basic fusion, 2: within a layer, 3: all")
      ->check(CLI::Range(0, 3))
      ->type_name("0..3")
      ->capture_default_str();
  app.add_option("--disable-pass", flags->options.disabled_passes,
                 "Leave out this pass (may be repeated; `inspect` lists them)")
      ->type_name("NAME")
      ->allow_extra_args(false);
  app.add_option("--keep", flags->options.keep,
                 "Keep this value of the source graph visible to `run` (may be repeated)")
      ->type_name("NAME")
      ->allow_extra_args(false);
  app.add_option("--tune", flags->tune_seconds,
                 "Measure the tiles of products on this machine for about so many seconds (20) and "
                 "store those that beat the computed ones")
      ->type_name("[SECONDS]")
      ->expected(0, 1)
      ->default_str("20")
      ->check(CLI::Range(0.1, 3600.0));
  return [flags] { return Run(*flags); };
}

}  // namespace

const Command kCompileCommand = {
    "compile", "Compile a model to an .om file",
    "  tboost compile SmolLM2-135M-Instruct.Q4_1.gguf -o smollm2.om\n"
    "  tboost compile all-MiniLM-L6-v2 -o minilm.om --dtype bf16 --report report.json\n"
    "  tboost compile gemma-3-270m.gguf -o gemma.om --max-context 4096\n",
    Setup};

}  // namespace tboost
