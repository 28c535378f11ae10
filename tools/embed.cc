// tboost embed: a vector for each line of text.
#include "tboost/embed.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "src/formats/npy/npy.h"
#include "src/generate/model_state.h"
#include "tools/command.h"
#include "tools/common.h"
#include "tools/progress.h"
#include "tools/signals.h"

namespace tboost {
namespace {

// Lines embedded before their results are written out.
constexpr size_t kLinesAtATime = 256;

struct Flags {
  ModelFlags model;
  EmbedOptions options;
  std::string file, output, format = "json";
  bool query = false, passage = false, stats = false;
};

// The first of `names` that the model's files have a prompt for.
Result<std::string> OwnPrompt(const Model& model, const std::vector<std::string>& names) {
  const Json& settings = model.state().settings();
  const Json& embedding = settings.contains("embedding") ? settings.at("embedding") : settings;
  std::string known;
  if (embedding.is_object() && embedding.contains("prompts")) {
    for (const auto& [name, prompt] : embedding.at("prompts").items()) {
      if (std::count(names.begin(), names.end(), name) && prompt.is_string())
        return prompt.get<std::string>();
      known += fmt::format("{}\"{}\"", known.empty() ? "" : ", ", name);
    }
  }
  return InvalidArgumentError(
      "the model's files define no prompt \"{}\" ({}); give the words with --prompt",
      fmt::join(names, "\" or \""), known.empty() ? "they define none" : "they define " + known);
}

// Where the vectors go: one at a time.
class Writer {
 public:
  virtual ~Writer() = default;
  virtual Status Write(size_t index, const Embedding& embedding) = 0;
  virtual Status Finish() { return OkStatus(); }
};

// Numbers have as many digits as tell the float apart; JSON has no NaN and no infinity.
std::string JsonNumbers(std::span<const float> values) {
  std::string out;
  for (float value : values) {
    if (!out.empty()) out += ',';
    out += std::isfinite(value) ? fmt::format("{}", value) : "null";
  }
  return out;
}

// JSON lines to a file or to standard output.
class JsonWriter : public Writer {
 public:
  explicit JsonWriter(std::optional<AtomicFile> file) : file_(std::move(file)) {}
  Status Write(size_t index, const Embedding& embedding) override {
    const std::string line = fmt::format("{{\"index\":{},\"tokens\":{},\"embedding\":[{}]}}\n",
                                         index, embedding.tokens, JsonNumbers(embedding.values));
    if (file_) return file_->Write(line);
    Print(line);
    return OkStatus();
  }
  Status Finish() override { return file_ ? file_->Commit() : OkStatus(); }

 private:
  std::optional<AtomicFile> file_;
};

class ArrayWriter : public Writer {
 public:
  explicit ArrayWriter(NpyWriter npy) : npy_(std::move(npy)) {}
  Status Write(size_t, const Embedding& embedding) override {
    return npy_.Append({reinterpret_cast<const char*>(embedding.values.data()),
                        embedding.values.size() * sizeof(float)});
  }
  Status Finish() override { return npy_.Finish(); }

 private:
  NpyWriter npy_;
};

Result<std::unique_ptr<Writer>> MakeWriter(const Flags& flags, int64_t width) {
  const bool npy = flags.format == "npy" || flags.output.ends_with(".npy");
  if (npy && flags.output.empty())
    return InvalidArgumentError("--format npy needs --output FILE.npy");
  if (npy) {
    TBOOST_ASSIGN_OR_RETURN(NpyWriter writer,
                            NpyWriter::Create(flags.output, DType::kF32, Shape{width}));
    return std::unique_ptr<Writer>(std::make_unique<ArrayWriter>(std::move(writer)));
  }
  if (flags.output.empty()) return std::unique_ptr<Writer>(new JsonWriter(std::nullopt));
  TBOOST_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(flags.output));
  return std::unique_ptr<Writer>(new JsonWriter(std::move(file)));
}

Status EmbedLines(const Model& model, std::span<const std::string> lines,
                  const EmbedOptions& options, Writer& writer) {
  ProgressBar bar("embedding");
  for (size_t first = 0; first < lines.size(); first += kLinesAtATime) {
    const auto group = lines.subspan(first, std::min(kLinesAtATime, lines.size() - first));
    TBOOST_ASSIGN_OR_RETURN(const std::vector<Embedding> embeddings, Embed(model, group, options));
    for (size_t i = 0; i < embeddings.size(); ++i)
      TBOOST_RETURN_IF_ERROR(writer.Write(first + i, embeddings[i]));
    if (!bar.Update(first + group.size(), lines.size())) return CancelledError("interrupted");
  }
  return writer.Finish();
}

Status Run(Flags& flags) {
  TBOOST_ASSIGN_OR_RETURN(const LoadedModel loaded, LoadModel(flags.model));
  const Model& model = *loaded.model;
  if (model.generates())
    return UnsupportedError("{}: this model generates text, it does not embed", flags.model.path);
  if (flags.query) {
    TBOOST_ASSIGN_OR_RETURN(flags.options.prompt, OwnPrompt(model, {"query"}));
  } else if (flags.passage) {
    TBOOST_ASSIGN_OR_RETURN(flags.options.prompt, OwnPrompt(model, {"passage", "document"}));
  }
  TBOOST_ASSIGN_OR_RETURN(const std::string text, ReadInput(flags.file));
  const std::vector<std::string> lines = SplitLines(text);
  flags.options.cancel = &Interrupted();
  TBOOST_ASSIGN_OR_RETURN(const std::unique_ptr<Writer> writer,
                          MakeWriter(flags, model.hidden_size()));
  const auto start = std::chrono::steady_clock::now();
  TBOOST_RETURN_IF_ERROR(EmbedLines(model, lines, flags.options, *writer));
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  if (flags.stats)
    fmt::print(
        stderr,
        "load {:.1f} ms; {} texts, {:.1f} a second; peak memory {:.1f} MB, predicted {:.1f} MB\n",
        loaded.load_ms, lines.size(), static_cast<double>(lines.size()) / elapsed.count(),
        PeakMemoryMb(), static_cast<double>(model.memory().Peak(0)) / 1e6);
  return OkStatus();
}

Action Setup(CLI::App& app) {
  auto flags = std::make_shared<Flags>();
  AddModelFlags(app, flags->model);
  app.add_option("FILE", flags->file, "Texts, one a line; \"-\": standard input")
      ->required()
      ->type_name("");
  app.add_option("-o,--output", flags->output,
                 "Write here instead of standard output; .npy: an array of f32")
      ->type_name("FILE");
  app.add_option("--format", flags->format, "json (lines) or npy")
      ->check(CLI::IsMember({"json", "npy"}))
      ->type_name("FORMAT")
      ->capture_default_str();
  auto* query =
      app.add_flag("--query", flags->query, "The texts are queries: the model's own prompt");
  auto* passage =
      app.add_flag("--passage", flags->passage, "The texts are passages: the model's own prompt");
  passage->excludes(query);
  app.add_option("--prompt", flags->options.prompt,
                 "Words before every text, or the name of one of the model's prompts")
      ->excludes(query)
      ->excludes(passage)
      ->type_name("TEXT");
  app.add_option("--max-length", flags->options.max_length,
                 "Cut texts at so many tokens (default: as the model's files say)")
      ->check(WholeNumber(0))
      ->type_name("N");
  app.add_flag("--stats", flags->stats, "Print speed and memory to standard error when done");
  return [flags] { return Run(*flags); };
}

}  // namespace

const Command kEmbedCommand = {
    "embed", "Embed lines of text as vectors",
    "  tboost embed minilm.om sentences.txt > vectors.jsonl\n"
    "  tboost embed all-MiniLM-L6-v2 - --output vectors.npy < lines.txt\n"
    "  tboost embed e5-small queries.txt --prompt \"query: \"\n",
    Setup};

}  // namespace tboost
