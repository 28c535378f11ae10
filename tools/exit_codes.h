// Exit codes of `tboost`: one table, shown by `tboost --help` and in docs/cli.md.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tboost/status.h"

namespace tboost {

struct ExitCode {
  int code;
  std::string_view meaning;
  std::vector<StatusCode> causes;
};

std::span<const ExitCode> ExitCodes();
int ExitCodeOf(StatusCode code);

// One line a code: "  3    not found, ...".
std::string ExitCodeTable();

}  // namespace tboost
