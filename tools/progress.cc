#include "tools/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "tools/signals.h"

namespace tboost {
namespace {

constexpr int kWidth = 30;
constexpr std::chrono::milliseconds kFirst(200), kInterval(100);

}  // namespace

ProgressBar::ProgressBar(std::string label)
    : label_(std::move(label)),
      terminal_(isatty(STDERR_FILENO) == 1),
      next_(std::chrono::steady_clock::now() + kFirst) {}

ProgressBar::~ProgressBar() {
  if (drawn_) std::fputs("\r\033[K", stderr);
}

bool ProgressBar::Update(uint64_t done, uint64_t total) {
  const auto now = std::chrono::steady_clock::now();
  if (terminal_ && now >= next_) {
    const double share =
        total > 0 ? std::min(1.0, static_cast<double>(done) / static_cast<double>(total)) : 0;
    const int filled = static_cast<int>(share * kWidth);
    fmt::print(stderr, "\r{} [{:=<{}}{: <{}}] {:3.0f} %", label_, "", filled, "", kWidth - filled,
               share * 100);
    std::fflush(stderr);
    drawn_ = true;
    next_ = now + kInterval;
  }
  return !Interrupted().cancelled();
}

}  // namespace tboost
