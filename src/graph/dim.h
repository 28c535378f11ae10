// Symbolic dimensions: polynomials with integer coefficients over named symbols ("tokens",
// "sequences").
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/status.h"

namespace tboost {

// Values of symbols: what a symbolic shape is evaluated with.
using SymbolValues = std::map<std::string, int64_t, std::less<>>;

// A sum of terms coefficient * symbol * symbol..., kept in canonical order, so == is equality of
// polynomials. A value type.
class Dim {
 public:
  Dim() = default;
  Dim(int64_t constant);  // NOLINT: an integer is a dimension
  static Dim Symbol(std::string name);
  // Parses the text form: "12", "tokens", "2*tokens+1", "sequences*tokens".
  static Result<Dim> Parse(std::string_view text);

  bool is_constant() const;
  // The constant, if it is one.
  std::optional<int64_t> constant() const;
  // The value for these symbols; an error names an unknown symbol or an overflow.
  Result<int64_t> Evaluate(const SymbolValues& symbols) const;
  std::string ToString() const;

  friend Dim operator+(const Dim& a, const Dim& b);
  friend Dim operator*(const Dim& a, const Dim& b);
  bool operator==(const Dim& other) const = default;

 private:
  struct Term {
    std::vector<std::string> symbols;  // sorted; empty: the constant term
    int64_t coefficient = 0;
    bool operator==(const Term& other) const = default;
  };
  std::vector<Term> terms_;  // sorted by symbols, no zero coefficient
};

}  // namespace tboost
