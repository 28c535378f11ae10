// A progress bar on a terminal; nothing where standard error is a pipe or file.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace tboost {

// Draws on standard error. Appears only for work longer than a moment; destruction wipes it.
class ProgressBar {
 public:
  explicit ProgressBar(std::string label);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  // False once the user has interrupted the program: the work should stop.
  bool Update(uint64_t done, uint64_t total);

 private:
  std::string label_;
  bool terminal_;
  bool drawn_ = false;
  std::chrono::steady_clock::time_point next_;
};

}  // namespace tboost
