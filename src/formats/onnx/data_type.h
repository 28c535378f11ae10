// The element types of ONNX tensors: one enum, one table of facts.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "src/tensor/dtype.h"

namespace tboost {

// By the numbers of TensorProto.DataType; a file may hold any other number.
enum class OnnxDataType : int32_t {
  kUndefined = 0,
  kFloat = 1,
  kUint8 = 2,
  kInt8 = 3,
  kUint16 = 4,
  kInt16 = 5,
  kInt32 = 6,
  kInt64 = 7,
  kString = 8,
  kBool = 9,
  kFloat16 = 10,
  kDouble = 11,
  kUint32 = 12,
  kUint64 = 13,
  kComplex64 = 14,
  kComplex128 = 15,
  kBfloat16 = 16,
  kFloat8E4M3FN = 17,
  kFloat8E4M3FNUZ = 18,
  kFloat8E5M2 = 19,
  kFloat8E5M2FNUZ = 20,
  kUint4 = 21,
  kInt4 = 22,
  kFloat4E2M1 = 23,
  kFloat8E8M0 = 24,
  kUint2 = 25,
  kInt2 = 26,
  kFloat6E2M3 = 27,
  kFloat6E3M2 = 28,
};

// The field of TensorProto that holds the elements of a type where they are not raw bytes.
enum class OnnxDataField : uint8_t {
  kNone = 0,
  kFloat = 4,
  kInt32 = 5,
  kString = 6,
  kInt64 = 7,
  kDouble = 10,
  kUint64 = 11,
};
std::string_view OnnxDataFieldName(OnnxDataField field);  // "float_data"

struct OnnxDataTypeInfo {
  OnnxDataType type;
  std::string_view name;  // as TensorProto spells it: "FLOAT"
  int bits;               // of an element; 0 for strings. Elements below 8 bits share bytes
  OnnxDataField field;
  int entry_bits;              // what one number of that field holds
  std::optional<DType> dtype;  // the engine's type with the same bits, where there is one
};

std::span<const OnnxDataTypeInfo> AllOnnxDataTypes();      // without kUndefined
const OnnxDataTypeInfo* FindOnnxDataType(OnnxDataType t);  // nullptr where it is unknown
std::string OnnxDataTypeName(OnnxDataType type);           // "FLOAT"; "data type 99" if unknown

}  // namespace tboost
