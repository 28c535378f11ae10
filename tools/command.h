// Command: one subcommand of `tboost`. Each has a file of its own and one line in commands.inc.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

#include "tboost/status.h"

namespace tboost {

// What a command does once its options are parsed. A failure becomes a message and an exit code.
using Action = std::function<Status()>;

struct Command {
  const char* name;
  const char* summary;   // one line, for `tboost --help`
  const char* examples;  // one command line a line, for `tboost NAME --help`
  // Adds the options to the command's parser and gives the action, which owns what they are parsed
  // into.
  Action (*setup)(CLI::App& app);
};

#define TBOOST_COMMAND(command) extern const Command command;
#include "tools/commands.inc"
#undef TBOOST_COMMAND

}  // namespace tboost
