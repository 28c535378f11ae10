#include "src/text/template/lexer.h"

#include <algorithm>

#include "src/base/utf8.h"
#include "src/text/template/value.h"
#include "src/text/tokenizer/unicode.h"

namespace tboost::chat {

bool IsPythonSpace(char32_t c) { return IsWhitespace(c) || (c >= 0x1C && c <= 0x1F); }

std::string_view StripLeft(std::string_view text) {
  for (size_t pos = 0; !text.empty(); text.remove_prefix(pos)) {
    pos = 0;
    if (!IsPythonSpace(NextCodePoint(text, &pos))) break;
  }
  return text;
}

std::string_view StripRight(std::string_view text) {
  while (!text.empty()) {
    size_t at = text.size() - 1;
    while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) --at;
    size_t pos = at;
    if (!IsPythonSpace(NextCodePoint(text, &pos))) break;
    text = text.substr(0, at);
  }
  return text;
}

namespace {

bool IsNameStart(char c) { return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

class Lexer {
 public:
  explicit Lexer(std::string source) : source_(std::move(source)) {}

  std::vector<Token> Run() {
    while (at_ < source_.size()) LexText();
    Add(TokenKind::kEnd, "");
    return std::move(tokens_);
  }

 private:
  std::string_view rest() const { return std::string_view(source_).substr(at_); }
  void Add(TokenKind kind, std::string text) { tokens_.push_back({kind, std::move(text), line_}); }
  [[noreturn]] void Fail(std::string message) const {
    throw TemplateError{std::move(message), line_};
  }

  void Advance(size_t size) {
    line_ +=
        static_cast<int>(std::count(source_.begin() + static_cast<ptrdiff_t>(at_),
                                    source_.begin() + static_cast<ptrdiff_t>(at_ + size), '\n'));
    at_ += size;
    if (size > 0) line_starting_ = source_[at_ - 1] == '\n';
  }

  // The position of the next tag.
  size_t FindTag() const {
    for (size_t i = at_; (i = source_.find('{', i)) != source_.npos; ++i) {
      if (i + 1 < source_.size() &&
          std::string_view("{%#").find(source_[i + 1]) != std::string_view::npos) {
        return i;
      }
    }
    return source_.size();
  }

  // Text up to the next tag, then the tag.
  void LexText() {
    const size_t tag = FindTag();
    EmitText(tag);
    if (tag == source_.size()) return;
    const char kind = source_[tag + 1];
    Advance(2);
    if (at_ < source_.size() && (source_[at_] == '-' || source_[at_] == '+')) Advance(1);
    if (kind == '#') return SkipComment();
    if (kind == '%' && LexRaw()) return;
    LexTag(kind == '%');
  }

  // The text before the tag at `tag`, stripped as the tag wants, and moves to the tag.
  void EmitText(size_t tag) {
    std::string_view text = rest().substr(0, tag - at_);
    const bool starting = line_starting_;
    const int line = line_;
    Advance(tag - at_);
    if (tag < source_.size()) {
      const char sign = tag + 2 < source_.size() ? source_[tag + 2] : '\0';
      if (sign == '-') {
        text = StripRight(text);
      } else if (sign != '+' && source_[tag + 1] != '{') {
        const size_t newline = text.rfind('\n');
        const size_t line_start = newline == text.npos ? 0 : newline + 1;
        if ((line_start > 0 || starting) && StripLeft(text.substr(line_start)).empty()) {
          text = text.substr(0, line_start);
        }
      }
    }
    if (!text.empty()) tokens_.push_back({TokenKind::kText, std::string(text), line});
  }

  // Behind a tag whose last character before its end mark is `sign`.
  void TrimAfter(char sign, bool block) {
    if (sign == '-') {
      Advance(rest().size() - StripLeft(rest()).size());
    } else if (block && sign != '+' && rest().starts_with('\n')) {
      Advance(1);
    }
  }

  void SkipComment() {
    const size_t end = source_.find("#}", at_);
    if (end == source_.npos) Fail("comment without end");
    const char sign = end > at_ ? source_[end - 1] : '\0';
    Advance(end + 2 - at_);
    TrimAfter(sign, true);
  }

  // The size of a block tag that holds nothing but `name`, at `begin`; 0 where there is none.
  size_t PlainTagSize(size_t begin, std::string_view name, char* sign) const {
    std::string_view text = std::string_view(source_).substr(begin);
    const size_t size = text.size();
    text = StripLeft(text);
    if (!text.starts_with(name)) return 0;
    text = StripLeft(text.substr(name.size()));
    *sign = text.starts_with('-') || text.starts_with('+') ? text.front() : '\0';
    if (*sign != '\0') text.remove_prefix(1);
    return text.starts_with("%}") ? size - text.size() + 2 : 0;
  }

  bool LexRaw() {
    char sign;
    const size_t begin = PlainTagSize(at_, "raw", &sign);
    if (begin == 0) return false;
    Advance(begin);
    TrimAfter(sign, true);
    for (size_t tag = at_; (tag = source_.find("{%", tag)) != source_.npos; tag += 2) {
      const bool has_sign =
          tag + 2 < source_.size() && (source_[tag + 2] == '-' || source_[tag + 2] == '+');
      const size_t inner = tag + (has_sign ? 3 : 2);
      const size_t size = PlainTagSize(inner, "endraw", &sign);
      if (size == 0) continue;
      EmitText(tag);
      Advance(inner - tag + size);
      TrimAfter(sign, true);
      return true;
    }
    Fail("raw block without endraw");
  }

  void LexTag(bool block) {
    Add(block ? TokenKind::kBlockBegin : TokenKind::kVariableBegin, "");
    const std::string_view end = block ? "%}" : "}}";
    size_t nesting = 0;
    while (true) {
      Advance(rest().size() - StripLeft(rest()).size());
      if (at_ == source_.size()) Fail(block ? "block tag without end" : "variable tag without end");
      const bool sign = rest().front() == '-' || (block && rest().front() == '+');
      if (nesting == 0 && rest().substr(sign ? 1 : 0).starts_with(end)) {
        const char mark = sign ? rest().front() : '\0';
        Add(block ? TokenKind::kBlockEnd : TokenKind::kVariableEnd, "");
        Advance(sign ? 3 : 2);
        return TrimAfter(mark, block);
      }
      const char c = rest().front();
      if (c == '(' || c == '[' || c == '{') ++nesting;
      if ((c == ')' || c == ']' || c == '}') && nesting > 0) --nesting;
      LexInside();
    }
  }

  void LexInside() {
    const char c = rest().front();
    if (IsNameStart(c)) {
      size_t size = 1;
      while (size < rest().size() && (IsNameStart(rest()[size]) || IsDigit(rest()[size]))) ++size;
      Add(TokenKind::kName, std::string(rest().substr(0, size)));
      return Advance(size);
    }
    if (IsDigit(c)) return LexNumber();
    if (c == '"' || c == '\'') return LexString(c);
    static constexpr std::string_view kOperators[] = {
        "==", "!=", "<=", ">=", "//", "**", "+", "-", "*", "/", "%", "~", "<",
        ">",  "=",  "(",  ")",  "[",  "]",  "{", "}", ".", ",", ":", "|",
    };
    for (const std::string_view op : kOperators) {
      if (!rest().starts_with(op)) continue;
      Add(TokenKind::kOperator, std::string(op));
      return Advance(op.size());
    }
    Fail("unexpected character \"" + ShortenUtf8(rest(), 4) + "\"");
  }

  void LexNumber() {
    const std::string_view text = rest();
    std::string digits;
    size_t size = 0;
    bool real = false;
    const auto take = [&] {
      while (size < text.size() && (IsDigit(text[size]) || text[size] == '_')) {
        if (text[size] != '_') digits += text[size];
        ++size;
      }
    };
    take();
    if (size + 1 < text.size() && text[size] == '.' && IsDigit(text[size + 1])) {
      real = true;
      digits += text[size++];
      take();
    }
    const size_t exponent_sign =
        size + 1 < text.size() && (text[size + 1] == '-' || text[size + 1] == '+') ? 1 : 0;
    if (size + 1 + exponent_sign < text.size() && (text[size] == 'e' || text[size] == 'E') &&
        IsDigit(text[size + 1 + exponent_sign])) {
      real = true;
      digits += text.substr(size, 1 + exponent_sign);
      size += 1 + exponent_sign;
      take();
    }
    Add(real ? TokenKind::kFloat : TokenKind::kInteger, digits);
    Advance(size);
  }

  void LexString(char quote) {
    const int line = line_;
    std::string out;
    size_t i = 1;
    for (;; ++i) {
      if (i >= rest().size()) Fail("string without end");
      const char c = rest()[i];
      if (c == quote) break;
      if (c != '\\') {
        out += c;
      } else if (i + 1 < rest().size()) {
        i += AppendEscape(rest().substr(i + 1), &out);
      }
    }
    Advance(i + 1);
    tokens_.push_back({TokenKind::kString, std::move(out), line});
  }

  // The character that `text`, behind a backslash, stands for; the number of its bytes.
  size_t AppendEscape(std::string_view text, std::string* out) const {
    static constexpr std::string_view kPlain = "nrtbfav0\\'\"",
                                      kMeaning("\n\r\t\b\f\a\v\0\\'\"", 11);
    const size_t at = kPlain.find(text.front());
    if (at != kPlain.npos) {
      *out += kMeaning[at];
      return 1;
    }
    if (text.front() == '\n') return 1;
    const size_t digits = text.front() == 'x'   ? 2
                          : text.front() == 'u' ? 4
                          : text.front() == 'U' ? 8
                                                : 0;
    if (digits > 0) {
      const std::string hex(text.substr(1, digits));
      if (hex.size() == digits && hex.find_first_not_of("0123456789abcdefABCDEF") == hex.npos) {
        AppendUtf8(static_cast<char32_t>(std::stoul(hex, nullptr, 16)), *out);
        return 1 + digits;
      }
      Fail("bad \\" + std::string(1, text.front()) + " escape");
    }
    *out += '\\';  // an unknown escape stays as it is
    *out += text.front();
    return 1;
  }

  std::string source_;
  size_t at_ = 0;
  int line_ = 1;
  bool line_starting_ = true;
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> LexTemplate(std::string_view source) {
  std::string text;
  for (size_t i = 0; i < source.size(); ++i) {  // every line ends in \n
    const bool carriage = source[i] == '\r';
    if (carriage && i + 1 < source.size() && source[i + 1] == '\n') ++i;
    text += carriage ? '\n' : source[i];
  }
  if (text.ends_with('\n')) text.pop_back();  // one newline at the end belongs to the file
  return Lexer(std::move(text)).Run();
}

}  // namespace tboost::chat
