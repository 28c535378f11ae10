// Lines of standard input, as they are typed.
#pragma once

#include <optional>
#include <string>

#include "tboost/status.h"

namespace tboost {

class StdinLines {
 public:
  // The next line without its newline; nullopt at the end of input or on a failure. On a terminal
  // an interrupt discards the line begun; elsewhere it ends the input.
  std::optional<std::string> Next();
  // Why Next() gave nothing: ok at the end of input.
  const Status& status() const { return status_; }

 private:
  std::string buffer_;
  bool ended_ = false;
  Status status_;
};

}  // namespace tboost
