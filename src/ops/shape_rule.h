// ShapeRule: how an operator states its shape rule, by named dimensions.
//
//   ShapeRule rule(Linear(), inputs, present);
//   rule.Operand(0, "tk").Weight(1, "nk").Operand(2, "n");
//   return rule.Outputs({"tn"});
//
// A letter is bound by its first use (or by Set) and must be the same dimension wherever it appears
// again. The first violation is kept and returned by Outputs().
#pragma once

#include <array>
#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "src/base/status.h"
#include "src/graph/op_record.h"

namespace tboost {

// The attributes of an operator that has none.
struct NoAttributes {
  template <class V>
  void VisitFields(V&) {}
};

// Attributes that the shape rule has checked already.
template <class A>
A CheckedAttributes(const Attributes& attributes) {
  Result<A> parsed = ParseAttributes<A>(attributes, "");
  return parsed.ok() ? *parsed : A{};
}

class ShapeRule {
 public:
  // Checks arity, kinds of operands and that only optional ones are absent. The spans must outlive
  // it.
  ShapeRule(const OpRecord& op, std::span<const ValueType> inputs, std::span<const bool> present);

  // Binds `name` to a dimension that an attribute gives.
  ShapeRule& Set(char name, Dim value);
  // Operand `index`, if present, has one dimension per letter of `names` and, being a tensor,
  // `dtype`. A first dimension of several may be 0; any other must be positive.
  ShapeRule& Operand(size_t index, std::string_view names, DType dtype = DType::kF32);
  // A matrix [columns, k] in any storage format that can be multiplied with.
  ShapeRule& Weight(size_t index, std::string_view names);
  // A kv cache, of these sizes or of any; binds g = kv_heads * head_dim.
  ShapeRule& Cache(size_t index, int64_t kv_heads = 0, int64_t head_dim = 0);
  // As Operand, but a tensor of one dimension stands for one row: [k] where `names` is "tk".
  ShapeRule& RowOrMatrix(size_t index, std::string_view names);
  // Fails with `message` unless `condition` holds.
  template <class... Args>
  ShapeRule& Require(bool condition, fmt::format_string<Args...> format, Args&&... args) {
    if (!condition) Fail(fmt::format(format, std::forward<Args>(args)...));
    return *this;
  }
  // What attributes must be: an eps (finite, not negative), a count (1 to 2^20).
  ShapeRule& Epsilon(double eps);
  ShapeRule& Count(std::string_view name, int64_t count);
  bool present(size_t index) const { return ok() && present_[index]; }
  bool ok() const { return status_.ok(); }
  const Dim& dim(char name) const;

  // f32 tensors of these dimensions, or the first violation.
  Result<std::vector<ValueType>> Outputs(std::initializer_list<std::string_view> names);
  // One tensor of another dtype.
  Result<std::vector<ValueType>> Output(std::string_view names, DType dtype);
  // Any types.
  Result<std::vector<ValueType>> Types(std::vector<ValueType> types);
  const ValueType& input(size_t index) const { return inputs_[index]; }
  std::vector<Dim> Shape(std::string_view names) const;

 private:
  void Fail(std::string message);
  void Dimensions(size_t index, std::string_view names);

  const OpRecord& op_;
  std::span<const ValueType> inputs_;
  std::span<const bool> present_;
  std::array<std::optional<Dim>, 26> bound_;
  Status status_;
};

}  // namespace tboost
