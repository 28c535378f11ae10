#include "src/text/tokenizer/pattern.h"

#include "src/text/tokenizer/unicode.h"

namespace tboost {

Result<Pattern> Pattern::FromJson(const Json& spec, std::string_view owner) {
  if (spec.is_object() && spec.size() == 1 && spec.begin()->is_string()) {
    const std::string& text = spec.begin()->get_ref<const std::string&>();
    if (spec.begin().key() == "Regex") {
      Result<Pattern> pattern = FromRegex(text);
      if (!pattern.ok()) return pattern.status().WithContext(owner);
      return pattern;
    }
    if (spec.begin().key() == "String") {
      if (text.empty()) return CorruptError("{}: the pattern is empty", owner);
      Pattern pattern;
      pattern.literal_ = text;
      return pattern;
    }
  }
  return CorruptError("{}: pattern must be {{\"String\": ...}} or {{\"Regex\": ...}}", owner);
}

Result<Pattern> Pattern::FromRegex(std::string_view text) {
  TBOOST_ASSIGN_OR_RETURN(Regex regex, Regex::Compile(text));
  Pattern pattern;
  pattern.regex_ = std::make_shared<const Regex>(std::move(regex));
  return pattern;
}

Pattern Pattern::FromClass(bool (*matches)(char32_t)) {
  Pattern pattern;
  pattern.class_ = matches;
  return pattern;
}

Pattern::Finder::Finder(const Pattern& pattern) : pattern_(pattern) {
  if (pattern.regex_) scratch_ = std::make_unique<Regex::Scratch>(*pattern.regex_);
}

Result<const std::vector<TextRange>*> Pattern::Finder::Find(std::string_view text) {
  if (pattern_.regex_) {
    TBOOST_RETURN_IF_ERROR(pattern_.regex_->FindAll(text, scratch_.get(), &matches_));
    return &matches_;
  }
  matches_.clear();
  if (pattern_.class_ != nullptr) {
    for (size_t pos = 0; pos < text.size();) {
      const size_t begin = pos;
      if (pattern_.class_(NextCodePoint(text, &pos))) matches_.push_back({begin, pos});
    }
    return &matches_;
  }
  const std::string& literal = pattern_.literal_;
  for (size_t at = text.find(literal); at != text.npos;
       at = text.find(literal, at + literal.size())) {
    matches_.push_back({at, at + literal.size()});
  }
  return &matches_;
}

}  // namespace tboost
