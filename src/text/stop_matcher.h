// Stop strings in text that arrives in pieces.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tboost {

// Lets text through up to the first stop string; what could still be the beginning of one is held
// back. The outcome does not depend on how the text is cut. Not thread-safe.
class StopMatcher {
 public:
  // Empty stop strings are ignored.
  explicit StopMatcher(std::vector<std::string> stops);
  // The text that is certain to stand before any stop string. Nothing after stopped().
  std::string Push(std::string_view text);
  // The text held back, at the end of the answer: it was no stop string after all.
  std::string Flush();
  bool stopped() const { return stop_ != nullptr; }
  // The stop string met; only where stopped(): the one that ends first, of these the longest.
  const std::string& stop() const { return *stop_; }

 private:
  std::vector<std::string> stops_;
  const std::string* stop_ = nullptr;
  std::string held_;
};

}  // namespace tboost
