#include "src/ops/shape_rule.h"

#include <algorithm>

#include "src/kernels/kernels.h"

namespace tboost {
namespace {

std::string_view KindName(ValueType::Kind kind) {
  switch (kind) {
    case ValueType::Kind::kTensor:
      return "a tensor";
    case ValueType::Kind::kLayout:
      return "a sequence layout";
    case ValueType::Kind::kKvCache:
      return "a kv cache";
  }
  return "?";
}

std::string ShapeText(const std::vector<Dim>& shape) {
  std::string out;
  for (const Dim& d : shape) out += (out.empty() ? "" : ", ") + d.ToString();
  return "[" + out + "]";
}

}  // namespace

ShapeRule::ShapeRule(const OpRecord& op, std::span<const ValueType> inputs,
                     std::span<const bool> present)
    : op_(op), inputs_(inputs), present_(present) {
  if (inputs.size() != op.inputs.size() || present.size() != inputs.size()) {
    Fail(fmt::format("takes {} operands, not {}", op.inputs.size(), inputs.size()));
    return;
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    const OperandSpec& spec = op.inputs[i];
    if (!present[i]) {
      if (!spec.optional) Fail(fmt::format("operand {} is missing", spec.name));
    } else if (inputs[i].kind != spec.kind) {
      Fail(fmt::format("{} must be {}, not {}", spec.name, KindName(spec.kind),
                       KindName(inputs[i].kind)));
    }
  }
}

void ShapeRule::Fail(std::string message) {
  if (ok()) status_ = InvalidArgumentError("[{}] {}", op_.name, message);
}

ShapeRule& ShapeRule::Set(char name, Dim value) {
  bound_[name - 'a'] = std::move(value);
  return *this;
}

const Dim& ShapeRule::dim(char name) const {
  static const Dim kUnbound;
  const auto& bound = bound_[name - 'a'];
  return bound ? *bound : kUnbound;
}

void ShapeRule::Dimensions(size_t index, std::string_view names) {
  const std::string_view operand = op_.inputs[index].name;
  const std::vector<Dim>& shape = inputs_[index].shape;
  if (shape.size() != names.size())
    return Fail(fmt::format("{} has shape {}, expected {} dimension{}", operand, ShapeText(shape),
                            names.size(), names.size() == 1 ? "" : "s"));
  for (size_t i = 0; i < names.size(); ++i) {
    const std::optional<int64_t> constant = shape[i].constant();
    const int64_t least = i == 0 && names.size() > 1 ? 0 : 1;
    if (constant && *constant < least)
      return Fail(fmt::format("{} has shape {}", operand, ShapeText(shape)));
    std::optional<Dim>& bound = bound_[names[i] - 'a'];
    if (!bound) bound = shape[i];
    if (*bound != shape[i])
      return Fail(fmt::format("{} has shape {}: dimension {} is {}, expected {}", operand,
                              ShapeText(shape), i, shape[i].ToString(), bound->ToString()));
  }
}

ShapeRule& ShapeRule::Operand(size_t index, std::string_view names, DType dtype) {
  if (!present(index)) return *this;
  const ValueType& type = inputs_[index];
  if (type.kind == ValueType::Kind::kTensor && type.dtype != dtype)
    Fail(fmt::format("{} is {}, expected {}", op_.inputs[index].name, DTypeName(type.dtype),
                     DTypeName(dtype)));
  if (ok()) Dimensions(index, names);
  return *this;
}

ShapeRule& ShapeRule::Weight(size_t index, std::string_view names) {
  if (!present(index)) return *this;
  const DType dtype = inputs_[index].dtype;
  const DTypeInfo& info = Info(dtype);
  const bool plain = dtype == DType::kF32 || dtype == DType::kF16 || dtype == DType::kBF16;
  if (!plain && !info.quantised())
    Fail(fmt::format("{} is {}, which is no format of weights", op_.inputs[index].name, info.name));
  if (ok()) Dimensions(index, names);
  if (!ok()) return *this;
  for (const Dim& d : inputs_[index].shape)
    Require(d.constant().value_or(0) > 0, "{} has shape {}, expected known dimensions",
            op_.inputs[index].name, ShapeText(inputs_[index].shape));
  const int64_t k = inputs_[index].shape.back().constant().value_or(0);
  Require(info.row_bytes == 0 || k <= kernels::kMostInt8K,
          "{} has rows of {} elements, {} sums at most {}", op_.inputs[index].name, k, info.name,
          kernels::kMostInt8K);
  return Require(k % info.block_elements == 0, "{} has rows of {} elements, no multiple of {} ({})",
                 op_.inputs[index].name, k, info.block_elements, info.name);
}

ShapeRule& ShapeRule::Cache(size_t index, int64_t kv_heads, int64_t head_dim) {
  if (!present(index)) return *this;
  const std::vector<Dim>& shape = inputs_[index].shape;
  std::array<int64_t, 2> sizes = {0, 0};
  for (size_t i = 0; i < 2 && shape.size() == 2; ++i) sizes[i] = shape[i].constant().value_or(0);
  Count("cache kv_heads", sizes[0]).Count("cache head_dim", sizes[1]);
  Require(kv_heads == 0 || (kv_heads == sizes[0] && head_dim == sizes[1]),
          "{} has shape {}, expected [{}, {}]", op_.inputs[index].name, ShapeText(shape), kv_heads,
          head_dim);
  if (ok()) Set('g', sizes[0] * sizes[1]);
  return *this;
}

ShapeRule& ShapeRule::RowOrMatrix(size_t index, std::string_view names) {
  if (present(index) && inputs_[index].shape.size() == 1) names.remove_prefix(names.size() - 1);
  return Operand(index, names);
}

ShapeRule& ShapeRule::Epsilon(double eps) {
  return Require(eps >= 0 && eps < 1e30, "eps is {}", eps);
}

ShapeRule& ShapeRule::Count(std::string_view name, int64_t count) {
  return Require(count >= 1 && count <= int64_t{1} << 20, "{} is {}", name, count);
}

std::vector<Dim> ShapeRule::Shape(std::string_view names) const {
  std::vector<Dim> shape;
  for (char name : names) shape.push_back(dim(name));
  return shape;
}

Result<std::vector<ValueType>> ShapeRule::Types(std::vector<ValueType> types) {
  TBOOST_RETURN_IF_ERROR(status_);
  return types;
}

Result<std::vector<ValueType>> ShapeRule::Output(std::string_view names, DType dtype) {
  return Types({{ValueType::Kind::kTensor, dtype, Shape(names)}});
}

Result<std::vector<ValueType>> ShapeRule::Outputs(std::initializer_list<std::string_view> names) {
  std::vector<ValueType> types;
  for (std::string_view shape : names)
    types.push_back({ValueType::Kind::kTensor, DType::kF32, Shape(shape)});
  return Types(std::move(types));
}

}  // namespace tboost
