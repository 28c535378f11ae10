// The program `tboost`: parses the command line, runs one command, turns its status into an exit
// code.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <new>

#include "src/base/status.h"
#include "src/base/utf8.h"
#include "tools/command.h"
#include "tools/exit_codes.h"
#include "tools/signals.h"

namespace tboost {
namespace {

constexpr const Command* kCommands[] = {
#define TBOOST_COMMAND(command) &command,
#include "tools/commands.inc"
#undef TBOOST_COMMAND
};

constexpr const char* kQuickStart =
    "Examples:\n"
    "  tboost compile SmolLM2-135M-Instruct.Q4_1.gguf -o smollm2.om\n"
    "  tboost generate smollm2.om --chat -p \"Name three rivers.\"\n"
    "  tboost embed all-MiniLM-L6-v2 sentences.txt\n"
    "  tboost COMMAND --help\n";

// Messages quote names from files, which must not steer the terminal.
void PrintError(std::string_view message) {
  std::string text = ReplaceInvalidUtf8(message);
  std::ranges::replace_if(
      text, [](unsigned char c) { return (c < 0x20 && c != '\n' && c != '\t') || c == 0x7f; }, '?');
  fmt::print(stderr, "tboost: error: {}\n", text);
}

// Options as "--name TYPE (default)": what an option excludes or needs is in its error.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_option_opts(const CLI::Option* option) const override {
    // The names of the checks follow the type's.
    const std::string type = option->get_type_name();
    const std::string name = type.substr(0, type.find(':'));
    const std::string value = option->get_default_str();
    return (name.empty() ? "" : " " + name) + (value.empty() ? "" : " (" + value + ")");
  }
};

// Adds the commands to `app`; the action of the one given on the command line goes to `action`.
void AddCommands(CLI::App& app, Action& action) {
  app.set_help_flag("-h,--help", "Show this help");
  app.formatter(std::make_shared<HelpFormatter>());
  app.set_version_flag("--version", "tboost " TBOOST_VERSION, "Show the version");
  app.footer(fmt::format("{}\nExit codes:\n{}", kQuickStart, ExitCodeTable()));
  app.require_subcommand(1);
  for (const Command* command : kCommands) {
    CLI::App* sub = app.add_subcommand(command->name, command->summary);
    sub->set_help_flag("-h,--help", "Show this help");
    sub->footer(fmt::format("Examples:\n{}", command->examples));
    sub->final_callback([&action, run = command->setup(*sub)] { action = run; });
  }
}

// What ended the parse without an action: a request for help or a mistake.
int FinishParse(const CLI::App& app, const CLI::ParseError& error) {
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) return app.exit(error);
  const std::vector<CLI::App*> chosen = app.get_subcommands();
  const std::vector<std::string> unknown = app.remaining();
  PrintError(chosen.empty() && !unknown.empty() ? fmt::format("no command {}", unknown.front())
                                                : error.what());
  fmt::print(stderr, "Try \"tboost{} --help\".\n",
             chosen.empty() ? "" : " " + chosen.front()->get_name());
  return ExitCodeOf(StatusCode::kInvalidArgument);
}

int RunAction(const Action& action) {
  Status status = action();
  const bool written = std::fflush(stdout) == 0 && !std::ferror(stdout);
  if (status.ok() && !written) status = IoError("cannot write standard output");
  if (status.ok()) return 0;
  if (status.code() == StatusCode::kCancelled && InterruptExitCode() != 0)
    return InterruptExitCode();
  PrintError(status.message());
  return ExitCodeOf(status.code());
}

int Main(int argc, char** argv) {
  InstallSignalHandlers();
  CLI::App app("Makes transformer models fast and small on the machine at hand.", "tboost");
  Action action;
  AddCommands(app, action);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return FinishParse(app, error);
  }
  return RunAction(action);
}

}  // namespace
}  // namespace tboost

int main(int argc, char** argv) try {
  return tboost::Main(argc, argv);
} catch (const std::bad_alloc&) {
  tboost::PrintError("out of memory");
  return tboost::ExitCodeOf(tboost::StatusCode::kResourceExhausted);
} catch (const std::exception& error) {
  tboost::PrintError(error.what());
  return tboost::ExitCodeOf(tboost::StatusCode::kInternal);
}
