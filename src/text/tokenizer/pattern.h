// What a step searches for: a literal string, a regular expression or a class of characters.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "src/base/json.h"
#include "src/text/tokenizer/regex.h"

namespace tboost {

class Pattern {
 public:
  // {"String": s} or {"Regex": r}; `owner` names the step in errors.
  static Result<Pattern> FromJson(const Json& spec, std::string_view owner);
  static Result<Pattern> FromRegex(std::string_view pattern);
  // Each code point of which `matches` is true.
  static Pattern FromClass(bool (*matches)(char32_t));

  // Searches many texts with one working memory. One per thread; the pattern must outlive it.
  class Finder {
   public:
    explicit Finder(const Pattern& pattern);
    // The non-empty matches from left to right; valid until the next call.
    Result<const std::vector<TextRange>*> Find(std::string_view text);

   private:
    const Pattern& pattern_;
    std::unique_ptr<Regex::Scratch> scratch_;
    std::vector<TextRange> matches_;
  };

 private:
  std::shared_ptr<const Regex> regex_;  // shared because steps are copied as std::function
  std::string literal_;
  bool (*class_)(char32_t) = nullptr;
};

}  // namespace tboost
