// Regular expressions over UTF-8 (PCRE2, Unicode classes, JIT where the CPU allows it).
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "src/base/status.h"

namespace tboost {

struct TextRange {
  size_t begin, end;
};

// A compiled pattern. Immutable: any number of threads may match at once, each with its own
// Scratch.
class Regex {
 public:
  // The memory of one thread's matching.
  class Scratch {
   public:
    explicit Scratch(const Regex& regex);
    ~Scratch();
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;

   private:
    friend class Regex;
    struct State;
    std::unique_ptr<State> state_;
  };

  static Result<Regex> Compile(std::string_view pattern);
  Regex(Regex&& other) noexcept;
  Regex& operator=(Regex&& other) noexcept;
  ~Regex();

  // The non-empty matches in `text` (valid UTF-8) from left to right, into `matches`. An error
  // where the pattern takes more steps than the limit.
  Status FindAll(std::string_view text, Scratch* scratch, std::vector<TextRange>* matches) const;

 private:
  struct Code;
  explicit Regex(std::unique_ptr<Code> code);
  std::unique_ptr<Code> code_;
};

}  // namespace tboost
