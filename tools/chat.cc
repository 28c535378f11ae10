// tboost chat: a conversation, line by line.
#include <unistd.h>

#include <optional>

#include "tboost/generate.h"
#include "tools/command.h"
#include "tools/common.h"
#include "tools/line_reader.h"
#include "tools/sampling_flags.h"
#include "tools/signals.h"

namespace tboost {
namespace {

constexpr const char* kHelp =
    "/reset        forget the conversation\n"
    "/system TEXT  set the system message and forget the conversation\n"
    "/quit         leave (so does the end of input)\n"
    "/help         this list\n"
    "Ctrl-C stops an answer.\n";

struct Flags {
  ModelFlags model;
  GenerateOptions options;
  std::string system;
};

// The conversation so far and the model that continues it.
class Conversation {
 public:
  Conversation(const Model& model, const Flags& flags)
      : model_(model), generator_(model), options_(flags.options), system_(flags.system) {
    options_.cancel = &Interrupted();
    options_.on_text = [](std::string_view text) {
      Print(text);
      return std::fflush(stdout) == 0;
    };
    Reset();
  }

  void Reset() {
    messages_.clear();
    if (!system_.empty()) messages_.push_back({"system", system_});
    generator_.Reset();
  }
  void SetSystem(std::string text) {
    system_ = std::move(text);
    Reset();
  }

  // Answers `text` on standard output. A failure leaves the conversation as it was.
  Status Say(std::string text) {
    messages_.push_back({"user", std::move(text)});
    const Result<Generation> answer = Answer();
    Print("\n");
    if (!answer.ok()) {
      messages_.pop_back();
      return answer.status();
    }
    messages_.push_back({"assistant", answer->text});
    return OkStatus();
  }

 private:
  Result<Generation> Answer() {
    TBOOST_ASSIGN_OR_RETURN(const std::string prompt, model_.RenderChat(messages_));
    TBOOST_ASSIGN_OR_RETURN(const std::vector<int32_t> ids,
                            model_.Tokenize(prompt, /*add_special_tokens=*/false));
    return generator_.Generate(ids, options_);
  }

  const Model& model_;
  Generator generator_;
  GenerateOptions options_;
  std::string system_;
  std::vector<ChatMessage> messages_;
};

// Runs a line that begins with '/'. False: leave.
bool RunCommand(Conversation& conversation, std::string_view line) {
  const size_t end = std::min(line.find(' '), line.size());
  const std::string_view name = line.substr(0, end);
  const std::string_view rest = line.substr(std::min(end + 1, line.size()));
  if (name == "/quit") return false;
  if (name == "/reset") {
    conversation.Reset();
  } else if (name == "/system") {
    conversation.SetSystem(std::string(rest));
  } else {
    if (name != "/help") fmt::print(stderr, "No command {}.\n", name);
    std::fputs(kHelp, stderr);
  }
  return true;
}

Status Run(Flags& flags) {
  TBOOST_ASSIGN_OR_RETURN(const LoadedModel loaded, LoadModel(flags.model));
  if (!loaded.model->has_chat_template())
    return UnsupportedError("{}: the model has no chat template; use `tboost generate`",
                            flags.model.path);
  const bool terminal = isatty(STDIN_FILENO) == 1;
  if (terminal) fmt::print(stderr, "{}, /help lists the commands\n", loaded.model->architecture());
  Conversation conversation(*loaded.model, flags);
  StdinLines lines;
  for (;;) {
    if (terminal) std::fputs("> ", stderr);
    std::optional<std::string> line = lines.Next();
    if (!line) return lines.status();
    if (line->ends_with('\r')) line->pop_back();
    if (line->empty()) continue;
    if (line->front() == '/') {
      if (!RunCommand(conversation, *line)) return OkStatus();
      continue;
    }
    const Status status = conversation.Say(*line);
    // Too long a conversation ends an answer, not the program; other failures would only repeat.
    if (status.code() == StatusCode::kOutOfRange && terminal) {
      fmt::print(stderr, "{}; /reset begins anew\n", status.message());
    } else if (!status.ok()) {
      return status;
    }
    if (!ForgetInterrupt()) return CancelledError("interrupted");
  }
}

Action Setup(CLI::App& app) {
  auto flags = std::make_shared<Flags>();
  AddModelFlags(app, flags->model);
  app.add_option("--system", flags->system, "The system message")->type_name("TEXT");
  AddGenerateFlags(app, flags->options);
  return [flags] { return Run(*flags); };
}

}  // namespace

const Command kChatCommand = {"chat", "Talk with a model",
                              "  tboost chat smollm2.om\n"
                              "  tboost chat smollm2.om --system \"Answer in one sentence.\" "
                              "--temperature 0.7\n"
                              "  printf 'Hello\\n/quit\\n' | tboost chat smollm2.om\n",
                              Setup};

}  // namespace tboost
