// tboost generate: the continuation of a prompt.
#include "tboost/generate.h"

#include <unistd.h>

#include <optional>

#include "src/formats/npy/npy.h"
#include "tools/command.h"
#include "tools/common.h"
#include "tools/progress.h"
#include "tools/sampling_flags.h"
#include "tools/signals.h"

namespace tboost {
namespace {

struct Flags {
  ModelFlags model;
  GenerateOptions options;
  std::optional<std::string> prompt;
  std::string prompt_ids, system, logits;
  bool chat = false, json = false, stats = false;
};

// The prompt of -p; of standard input for "-", or without -p where that is no terminal. A final
// newline of standard input is not part of it.
Result<std::string> PromptText(const Flags& flags) {
  if (flags.prompt && *flags.prompt != "-") return *flags.prompt;
  if (!flags.prompt && isatty(STDIN_FILENO))
    return InvalidArgumentError("no prompt: give -p TEXT, or text on standard input");
  TBOOST_ASSIGN_OR_RETURN(std::string text, ReadInput("-"));
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

Result<std::vector<int32_t>> PromptIds(const Flags& flags, const Model& model) {
  if (!flags.prompt_ids.empty()) return ParseIds(flags.prompt_ids);
  TBOOST_ASSIGN_OR_RETURN(const std::string text, PromptText(flags));
  if (!flags.chat) return model.Tokenize(text);
  std::vector<ChatMessage> messages;
  if (!flags.system.empty()) messages.push_back({"system", flags.system});
  messages.push_back({"user", text});
  TBOOST_ASSIGN_OR_RETURN(const std::string rendered, model.RenderChat(messages));
  // The template has written the special tokens where they belong.
  return model.Tokenize(rendered, /*add_special_tokens=*/false);
}

double Rate(double count, double seconds) { return seconds > 0 ? count / seconds : 0; }

double PrefillRate(const Generation& g) {
  return Rate(static_cast<double>(g.prompt_tokens - g.reused_tokens), g.prefill_seconds);
}
// The first token comes of the prompt; every further one takes a step.
double DecodeRate(const Generation& g) {
  return g.ids.size() < 2 ? 0 : Rate(static_cast<double>(g.ids.size() - 1), g.decode_seconds);
}

OrderedJson ToJson(const Generation& g, const std::vector<int32_t>& prompt_ids, double load_ms) {
  return {{"prompt_ids", prompt_ids},
          {"ids", g.ids},
          {"text", g.text},
          {"finish_reason", FinishReasonName(g.finish_reason)},
          {"timings",
           {{"load_ms", Round(load_ms, 3)},
            {"prefill_tok_s", Round(PrefillRate(g), 2)},
            {"decode_tok_s", Round(DecodeRate(g), 2)},
            {"peak_rss_mb", PeakMemoryMb()}}}};
}

void PrintStats(const Generation& g, const LoadedModel& loaded) {
  const int64_t tokens = g.prompt_tokens + static_cast<int64_t>(g.ids.size());
  fmt::print(stderr,
             "load {:.1f} ms; prompt {} tokens, {:.1f} tok/s; answer {} tokens, {:.1f} tok/s; "
             "peak memory {:.1f} MB, predicted {:.1f} MB\n",
             loaded.load_ms, g.prompt_tokens, PrefillRate(g), g.ids.size(), DecodeRate(g),
             PeakMemoryMb(), static_cast<double>(loaded.model->memory().Peak(tokens)) / 1e6);
}

Status Run(Flags& flags) {
  TBOOST_ASSIGN_OR_RETURN(const LoadedModel loaded, LoadModel(flags.model));
  const Model& model = *loaded.model;
  TBOOST_ASSIGN_OR_RETURN(const std::vector<int32_t> prompt_ids, PromptIds(flags, model));
  std::optional<NpyWriter> logits;
  if (!flags.logits.empty()) {
    TBOOST_ASSIGN_OR_RETURN(
        NpyWriter writer, NpyWriter::Create(flags.logits, DType::kF32, Shape{model.vocab_size()}));
    logits.emplace(std::move(writer));
    flags.options.on_logits = [&](std::span<const float> row) {
      return logits->Append({reinterpret_cast<const char*>(row.data()), row.size_bytes()});
    };
  }
  if (!flags.json) {
    flags.options.on_text = [](std::string_view text) {
      Print(text);
      return std::fflush(stdout) == 0;
    };
  }
  flags.options.cancel = &Interrupted();
  std::optional<ProgressBar> reading(std::in_place, "reading the prompt");
  flags.options.on_prefill = [&](int64_t done, int64_t total) {
    reading->Update(static_cast<uint64_t>(done), static_cast<uint64_t>(total));
    if (done == total) reading.reset();  // wiped before the answer begins
  };
  Generator generator(model);
  TBOOST_ASSIGN_OR_RETURN(const Generation generation,
                          generator.Generate(prompt_ids, flags.options));
  // Of an interrupted run no file stays: it would look whole.
  if (logits && !Interrupted().cancelled()) TBOOST_RETURN_IF_ERROR(logits->Finish());
  if (flags.json) {
    PrintJson(ToJson(generation, prompt_ids, loaded.load_ms));
  } else {
    Print("\n");
  }
  if (flags.stats) PrintStats(generation, loaded);
  if (Interrupted().cancelled()) return CancelledError("interrupted");
  return OkStatus();
}

Action Setup(CLI::App& app) {
  auto flags = std::make_shared<Flags>();
  AddModelFlags(app, flags->model);
  auto* prompt = app.add_option("-p,--prompt", flags->prompt,
                                "The text to continue; \"-\" or none: standard input");
  prompt->type_name("TEXT");
  app.add_option("--prompt-ids", flags->prompt_ids, "The prompt as token ids: 1,2,3")
      ->excludes(prompt)
      ->type_name("IDS");
  auto* chat = app.add_flag("--chat", flags->chat,
                            "Put the prompt into the model's chat template (else it is raw text)");
  app.add_option("--system", flags->system, "The system message, with --chat")
      ->needs(chat)
      ->type_name("TEXT");
  AddGenerateFlags(app, flags->options);
  app.add_flag("--ignore-eos", flags->options.ignore_eos,
               "Go on after the model's end-of-text token");
  app.add_option("--logits", flags->logits,
                 "Write the logits of the last prompt token and of each generated one (.npy)")
      ->type_name("FILE");
  app.add_flag("--json", flags->json, "Print one JSON object when done, instead of the text");
  app.add_flag("--stats", flags->stats, "Print speed and memory to standard error when done");
  return [flags] { return Run(*flags); };
}

}  // namespace

const Command kGenerateCommand = {
    "generate", "Generate text from a prompt",
    "  tboost generate smollm2.om -p \"Once upon a time\" --max-tokens 64\n"
    "  tboost generate smollm2.om --chat -p \"Name three rivers.\" --temperature 0.7 --seed 1\n"
    "  tboost generate model.gguf --json < prompt.txt\n"
    "  tboost generate smollm2.om --prompt-ids 1,2,3 --logits logits.npy --json\n",
    Setup};

}  // namespace tboost
