// tboost completion: shell completion, from the same description as the help.
#include <functional>

#include "tools/command.h"
#include "tools/common.h"

namespace tboost {
namespace {

struct Option {
  std::vector<std::string> names;  // "--threads", "-o"
  std::string description;
  bool takes_value = false;
};

std::vector<Option> OptionsOf(const CLI::App& app) {
  std::vector<Option> options;
  for (const CLI::Option* option : app.get_options()) {
    if (option->nonpositional() && !option->get_group().empty()) {
      Option found{{}, option->get_description(), option->get_items_expected_max() > 0};
      for (const std::string& name : option->get_snames()) found.names.push_back("-" + name);
      for (const std::string& name : option->get_lnames()) found.names.push_back("--" + name);
      options.push_back(std::move(found));
    }
  }
  return options;
}

std::string AllNames(const CLI::App& app) {
  std::string names;
  for (const Option& option : OptionsOf(app))
    names += fmt::format("{}{}", names.empty() ? "" : " ", fmt::join(option.names, " "));
  return names;
}

// `text` in single quotes, for any of the shells.
std::string Quoted(std::string_view text) {
  std::string out = "'";
  for (char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string Bash(const CLI::App& root) {
  std::string names, cases;
  for (const CLI::App* sub : root.get_subcommands(nullptr)) {
    names += (names.empty() ? "" : " ") + sub->get_name();
    cases += fmt::format("    {}) words={} ;;\n", sub->get_name(), Quoted(AllNames(*sub)));
  }
  return fmt::format(
      "_tboost() {{\n"
      "  local current=${{COMP_WORDS[COMP_CWORD]}} words={}\n"
      "  if [ \"$COMP_CWORD\" -gt 1 ]; then\n"
      "    case ${{COMP_WORDS[1]}} in\n"
      "{}    esac\n"
      "    [[ $current == -* ]] || words=\n"
      "  fi\n"
      "  COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
      "}}\n"
      "complete -o default -F _tboost tboost\n",
      Quoted(names + " " + AllNames(root)), cases);
}

std::string Zsh(const CLI::App& root) {
  std::string commands, cases;
  for (const CLI::App* sub : root.get_subcommands(nullptr)) {
    commands += fmt::format("    {}\n",
                            Quoted(fmt::format("{}:{}", sub->get_name(), sub->get_description())));
    cases += fmt::format("    {}) options=({}) ;;\n", sub->get_name(), AllNames(*sub));
  }
  return fmt::format(
      "#compdef tboost\n"
      "_tboost() {{\n"
      "  local -a commands options\n"
      "  commands=(\n{}  )\n"
      "  if (( CURRENT == 2 )); then\n"
      "    _describe command commands\n"
      "    return\n"
      "  fi\n"
      "  case $words[2] in\n"
      "{}  esac\n"
      "  if [[ $PREFIX == -* ]]; then\n"
      "    compadd -- $options\n"
      "  else\n"
      "    _files\n"
      "  fi\n"
      "}}\n"
      "compdef _tboost tboost\n",
      commands, cases);
}

std::string Fish(const CLI::App& root) {
  std::string out = "complete -c tboost -n __fish_use_subcommand -f\n";
  for (const CLI::App* sub : root.get_subcommands(nullptr)) {
    out += fmt::format("complete -c tboost -n __fish_use_subcommand -a {} -d {}\n", sub->get_name(),
                       Quoted(sub->get_description()));
    for (const Option& option : OptionsOf(*sub)) {
      out += fmt::format("complete -c tboost -n '__fish_seen_subcommand_from {}'", sub->get_name());
      for (const std::string& name : option.names)
        out += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      out += fmt::format("{} -d {}\n", option.takes_value ? " -r" : "", Quoted(option.description));
    }
  }
  return out;
}

struct Shell {
  const char* name;
  std::string (*script)(const CLI::App& root);
};
constexpr Shell kShells[] = {{"bash", Bash}, {"zsh", Zsh}, {"fish", Fish}};

Status Run(const std::string& name, const CLI::App& root) {
  for (const Shell& shell : kShells)
    if (shell.name == name) Print(shell.script(root));
  return OkStatus();
}

Action Setup(CLI::App& app) {
  auto shell = std::make_shared<std::string>();
  std::vector<std::string> names;
  for (const Shell& known : kShells) names.push_back(known.name);
  app.add_option("SHELL", *shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember(names))
      ->type_name("");
  return [shell, &app] { return Run(*shell, *app.get_parent()); };
}

}  // namespace

const Command kCompletionCommand = {
    "completion", "Print a script that completes commands and options",
    "  tboost completion bash > /etc/bash_completion.d/tboost\n"
    "  tboost completion zsh > ~/.zfunc/_tboost\n"
    "  tboost completion fish > ~/.config/fish/completions/tboost.fish\n",
    Setup};

}  // namespace tboost
