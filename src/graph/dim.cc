#include "src/graph/dim.h"

#include <algorithm>
#include <charconv>
#include <limits>

namespace tboost {
namespace {

constexpr int64_t kHuge = std::numeric_limits<int64_t>::max();
constexpr size_t kMaxText = 256;  // bounds the work on a text from a file

// Coefficients saturate: Evaluate() reports one that did, so no operator has to fail.
int64_t Saturate(__int128 value) {
  return static_cast<int64_t>(std::clamp<__int128>(value, -kHuge, kHuge));
}

bool IsSymbolStart(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool IsSymbolPart(char c) { return IsSymbolStart(c) || (c >= '0' && c <= '9'); }

// One factor at the front of `text`, which is shortened: an integer or a symbol.
Result<Dim> TakeFactor(std::string_view& text, std::string_view whole) {
  if (!text.empty() && IsSymbolStart(text[0])) {
    const auto end = std::ranges::find_if_not(text, IsSymbolPart);
    std::string name(text.begin(), end);
    text.remove_prefix(name.size());
    return Dim::Symbol(std::move(name));
  }
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || text[0] == '-')
    return InvalidArgumentError("dimension \"{}\": expected a number or a symbol", whole);
  text.remove_prefix(end - text.data());
  return Dim(number);
}

}  // namespace

Dim::Dim(int64_t constant) {
  if (constant != 0) terms_.push_back({{}, Saturate(constant)});
}

Dim Dim::Symbol(std::string name) {
  Dim dim;
  dim.terms_.push_back({{std::move(name)}, 1});
  return dim;
}

Result<Dim> Dim::Parse(std::string_view text) {
  if (text.size() > kMaxText)
    return InvalidArgumentError("dimension of {} characters, at most {}", text.size(), kMaxText);
  std::string_view rest = text;
  Dim sum;
  do {
    Dim term = 1;
    if (rest.starts_with('-')) term = -1;
    if (rest.starts_with('-') || (rest.starts_with('+') && rest.size() < text.size()))
      rest.remove_prefix(1);
    while (true) {
      TBOOST_ASSIGN_OR_RETURN(const Dim factor, TakeFactor(rest, text));
      term = term * factor;
      if (!rest.starts_with('*')) break;
      rest.remove_prefix(1);
    }
    sum = sum + term;
  } while (rest.starts_with('+') || rest.starts_with('-'));
  if (!rest.empty()) return InvalidArgumentError("dimension \"{}\": unexpected \"{}\"", text, rest);
  return sum;
}

bool Dim::is_constant() const {
  return terms_.empty() || (terms_.size() == 1 && terms_[0].symbols.empty());
}

std::optional<int64_t> Dim::constant() const {
  if (!is_constant()) return std::nullopt;
  return terms_.empty() ? 0 : terms_[0].coefficient;
}

Result<int64_t> Dim::Evaluate(const SymbolValues& symbols) const {
  int64_t sum = 0;
  for (const Term& term : terms_) {
    int64_t product = term.coefficient;
    bool overflow = product == kHuge || product == -kHuge;
    for (const std::string& symbol : term.symbols) {
      const auto found = symbols.find(symbol);
      if (found == symbols.end())
        return InvalidArgumentError("dimension {}: no value for symbol {}", ToString(), symbol);
      overflow |= __builtin_mul_overflow(product, found->second, &product);
    }
    overflow |= __builtin_add_overflow(sum, product, &sum);
    if (overflow) return OutOfRangeError("dimension {} passes 64 bits", ToString());
  }
  return sum;
}

std::string Dim::ToString() const {
  if (terms_.empty()) return "0";
  std::string out;
  auto append = [&out](const Term& term) {
    if (term.coefficient < 0)
      out += '-';
    else if (!out.empty())
      out += '+';
    const int64_t magnitude = term.coefficient < 0 ? -term.coefficient : term.coefficient;
    std::string_view separator;
    if (magnitude != 1 || term.symbols.empty()) {
      out += std::to_string(magnitude);
      separator = "*";
    }
    for (const std::string& symbol : term.symbols) {
      out.append(separator).append(symbol);
      separator = "*";
    }
  };
  for (const Term& term : terms_)
    if (!term.symbols.empty()) append(term);
  if (terms_[0].symbols.empty()) append(terms_[0]);
  return out;
}

Dim operator+(const Dim& a, const Dim& b) {
  Dim out;
  auto x = a.terms_.begin();
  auto y = b.terms_.begin();
  while (x != a.terms_.end() || y != b.terms_.end()) {
    if (y == b.terms_.end() || (x != a.terms_.end() && x->symbols < y->symbols)) {
      out.terms_.push_back(*x++);
    } else if (x == a.terms_.end() || y->symbols < x->symbols) {
      out.terms_.push_back(*y++);
    } else {
      const int64_t sum = Saturate(static_cast<__int128>(x->coefficient) + y->coefficient);
      if (sum != 0) out.terms_.push_back({x->symbols, sum});
      ++x, ++y;
    }
  }
  return out;
}

Dim operator*(const Dim& a, const Dim& b) {
  Dim out;
  for (const Dim::Term& x : a.terms_) {
    for (const Dim::Term& y : b.terms_) {
      Dim product;
      product.terms_.push_back(
          {{}, Saturate(static_cast<__int128>(x.coefficient) * y.coefficient)});
      std::ranges::merge(x.symbols, y.symbols, std::back_inserter(product.terms_[0].symbols));
      out = out + product;
    }
  }
  return out;
}

}  // namespace tboost
