// Lines of standard input, as they are typed.
#pragma once

#include <optional>
#include <string>

#include "tboost/status.h"

namespace tboost {

class StdinLines {
 public:
  // The next line without its newline; nullopt at the end of input or on a failure. On a terminal
  // an interrupt discards the line begun; elsewhere it ends the input. A line of more than 16 MiB
  // is a failure.
  std::optional<std::string> Next();
  // Why Next() gave nothing: ok at the end of input.
  const Status& status() const { return status_; }

 private:
  std::string buffer_;
  size_t searched_ = 0;  // bytes at its start that hold no newline
  bool ended_ = false;
  Status status_;
};

}  // namespace tboost
