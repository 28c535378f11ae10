#include "tools/exit_codes.h"

#include <fmt/format.h>

#include <algorithm>

namespace tboost {

std::span<const ExitCode> ExitCodes() {
  static const std::vector<ExitCode> table = {
      {0, "success", {StatusCode::kOk}},
      {1, "a fault of the program itself", {StatusCode::kInternal}},
      {2, "wrong use: an option or argument makes no sense", {StatusCode::kInvalidArgument}},
      {3, "not found, not readable or not writable", {StatusCode::kNotFound, StatusCode::kIo}},
      {4,
       "a model or input file is corrupt or not supported",
       {StatusCode::kCorrupt, StatusCode::kUnsupported}},
      {5, "a token id, length or size is out of range", {StatusCode::kOutOfRange}},
      {6, "out of memory or of another resource", {StatusCode::kResourceExhausted}},
      {130, "interrupted (128 + the signal's number)", {StatusCode::kCancelled}},
  };
  return table;
}

int ExitCodeOf(StatusCode code) {
  for (const ExitCode& entry : ExitCodes())
    if (std::find(entry.causes.begin(), entry.causes.end(), code) != entry.causes.end())
      return entry.code;
  return 1;
}

std::string ExitCodeTable() {
  std::string out;
  for (const ExitCode& entry : ExitCodes())
    out += fmt::format("  {:<4} {}\n", entry.code, entry.meaning);
  return out;
}

}  // namespace tboost
