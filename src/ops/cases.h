// Building test cases of operators (OpRecord::cases).
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "src/graph/op_record.h"

namespace tboost {

inline ValueType TensorType(std::vector<Dim> shape, DType dtype = DType::kF32) {
  return {ValueType::Kind::kTensor, dtype, std::move(shape)};
}
inline ValueType LayoutType(Dim tokens, Dim sequences) {
  return {ValueType::Kind::kLayout, DType::kF32, {std::move(tokens), std::move(sequences)}};
}
inline ValueType CacheType(int64_t kv_heads, int64_t head_dim) {
  return {ValueType::Kind::kKvCache, DType::kF32, {kv_heads, head_dim}};
}

// A case with all operands present.
inline OpCase MakeCase(std::string name, std::vector<ValueType> inputs,
                       Attributes attributes = {}) {
  OpCase out;
  out.name = std::move(name);
  out.present.assign(inputs.size(), true);
  out.inputs = std::move(inputs);
  out.attributes = std::move(attributes);
  return out;
}

}  // namespace tboost
