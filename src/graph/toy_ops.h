// Operators of the tests of this folder: shape rules only.
#pragma once

#include "src/graph/attributes.h"
#include "src/graph/op_record.h"

namespace tboost {

enum class ToyMode : uint8_t { kPlain, kFancy };
template <>
struct EnumNames<ToyMode> {
  static constexpr std::pair<ToyMode, std::string_view> kNames[] = {{ToyMode::kPlain, "plain"},
                                                                    {ToyMode::kFancy, "fancy"}};
};

struct ToyAttributes {
  double factor = 1;
  int64_t count = 0;
  bool flag = false;
  ToyMode mode = ToyMode::kPlain;
  std::string note;
  std::vector<int64_t> ids;
  std::vector<double> weights;
  template <class V>
  void VisitFields(V& v) {
    v("factor", factor, "a real");
    v("count", count, "an integer");
    v("flag", flag, "a flag");
    v("mode", mode, "a choice");
    v("note", note, "a text");
    v("ids", ids, "integers");
    v("weights", weights, "reals");
  }
};

namespace toy {

using Types = Result<std::vector<ValueType>>;

// y of x's type, checked attributes.
inline Types InferScale(std::span<const ValueType> in, std::span<const bool>,
                        const Attributes& attributes) {
  TBOOST_RETURN_IF_ERROR(ParseAttributes<ToyAttributes>(attributes, "scale").status());
  return std::vector<ValueType>{in[0]};
}
inline Types InferBinary(std::span<const ValueType> in, std::span<const bool>, const Attributes&) {
  if (in[0] != in[1])
    return InvalidArgumentError("[binary] {} and {}", ToText(in[0]), ToText(in[1]));
  return std::vector<ValueType>{in[0]};
}
inline Types InferTwo(std::span<const ValueType> in, std::span<const bool>, const Attributes&) {
  return std::vector<ValueType>{in[0], in[0]};
}
// x [t, k], w [n, k] gives [t, n].
inline Types InferProduct(std::span<const ValueType> in, std::span<const bool>, const Attributes&) {
  if (in[0].shape.size() != 2 || in[1].shape.size() != 2 || in[0].shape[1] != in[1].shape[1])
    return InvalidArgumentError("[product] {} and {}", ToText(in[0]), ToText(in[1]));
  ValueType out = in[0];
  out.shape[1] = in[1].shape[0];
  return std::vector<ValueType>{out};
}

inline OpRecord Record(std::string_view name, std::vector<OperandSpec> inputs,
                       std::vector<std::string_view> outputs, decltype(OpRecord::infer) infer) {
  OpRecord record;
  record.name = name;
  record.inputs = std::move(inputs);
  record.outputs = std::move(outputs);
  record.infer = infer;
  return record;
}

inline const OpRecord kScale =
    Record("scale", {{.name = "x"}, {.name = "gain", .optional = true}}, {"y"}, InferScale);
inline const OpRecord kAdd = Record("add", {{.name = "x"}, {.name = "y"}}, {"sum"}, InferBinary);
inline const OpRecord kSub = Record("sub", {{.name = "x"}, {.name = "y"}}, {"out"}, InferBinary);
inline const OpRecord kTwo = Record("two", {{.name = "x"}}, {"a", "b"}, InferTwo);
inline const OpRecord kProduct =
    Record("product", {{.name = "x"}, {.name = "w"}}, {"y"}, InferProduct);

inline OpRegistry Ops() { return {{&kScale, &kAdd, &kSub, &kTwo, &kProduct}}; }

}  // namespace toy
}  // namespace tboost
