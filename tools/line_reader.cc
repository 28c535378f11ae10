#include "tools/line_reader.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "src/base/status.h"
#include "tools/signals.h"

namespace tboost {
namespace {

constexpr size_t kMaxLine = size_t{16} << 20;

}  // namespace

std::optional<std::string> StdinLines::Next() {
  for (;;) {
    const size_t end = buffer_.find('\n', searched_);
    searched_ = buffer_.size();
    if (end != buffer_.npos || (ended_ && !buffer_.empty())) {
      std::string line = buffer_.substr(0, end);
      buffer_.erase(0, end == buffer_.npos ? end : end + 1);
      searched_ = 0;
      return line;
    }
    if (ended_) return std::nullopt;
    if (buffer_.size() > kMaxLine) {
      status_ = OutOfRangeError("a line of standard input has more than {} bytes", kMaxLine);
      return std::nullopt;
    }
    char bytes[4096];
    const ssize_t n = read(STDIN_FILENO, bytes, sizeof bytes);
    if (n > 0) {
      buffer_.append(bytes, static_cast<size_t>(n));
    } else if (n == 0 && !Interrupted().cancelled()) {
      ended_ = true;
    } else if (n < 0 && errno != EINTR) {
      status_ = IoError("cannot read standard input");
      return std::nullopt;
    } else if (Interrupted().cancelled()) {
      if (!isatty(STDIN_FILENO) || !ForgetInterrupt()) {
        status_ = CancelledError("interrupted");
        return std::nullopt;
      }
      buffer_.clear();
      searched_ = 0;
      std::fputs("\n(/quit or Ctrl-D leaves)\n> ", stderr);
    }
  }
}

}  // namespace tboost
