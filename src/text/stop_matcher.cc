#include "src/text/stop_matcher.h"

#include <algorithm>
#include <utility>

namespace tboost {

StopMatcher::StopMatcher(std::vector<std::string> stops) : stops_(std::move(stops)) {
  std::erase_if(stops_, [](const std::string& stop) { return stop.empty(); });
}

std::string StopMatcher::Push(std::string_view text) {
  if (stopped()) return {};
  held_ += text;
  // Earliest end first, as if the text came byte by byte; then the longest.
  size_t end = std::string::npos;
  for (const std::string& stop : stops_) {
    const size_t at = held_.find(stop);
    if (at == std::string::npos) continue;
    const size_t stop_end = at + stop.size();
    const bool better = stop_end < end || (stop_end == end && stop.size() > stop_->size());
    if (!better) continue;
    end = stop_end;
    stop_ = &stop;
  }
  if (stopped()) {
    std::string out = held_.substr(0, end - stop_->size());
    held_.clear();
    return out;
  }
  size_t keep = 0;  // the longest suffix that begins a stop string
  for (const std::string& stop : stops_) {
    for (size_t size = std::min(held_.size(), stop.size() - 1); size > keep; --size) {
      if (held_.ends_with(std::string_view(stop).substr(0, size))) keep = size;
    }
  }
  std::string out = held_.substr(0, held_.size() - keep);
  held_.erase(0, out.size());
  return out;
}

std::string StopMatcher::Flush() { return std::exchange(held_, {}); }

}  // namespace tboost
