#include "src/formats/onnx/data_type.h"

#include <fmt/format.h>

#include <algorithm>

namespace tboost {
namespace {

using Type = OnnxDataType;
using Field = OnnxDataField;

constexpr OnnxDataTypeInfo kTypes[] = {
    {Type::kFloat, "FLOAT", 32, Field::kFloat, 32, DType::kF32},
    {Type::kUint8, "UINT8", 8, Field::kInt32, 8, DType::kU8},
    {Type::kInt8, "INT8", 8, Field::kInt32, 8, DType::kI8},
    {Type::kUint16, "UINT16", 16, Field::kInt32, 16, {}},
    {Type::kInt16, "INT16", 16, Field::kInt32, 16, {}},
    {Type::kInt32, "INT32", 32, Field::kInt32, 32, DType::kI32},
    {Type::kInt64, "INT64", 64, Field::kInt64, 64, DType::kI64},
    {Type::kString, "STRING", 0, Field::kString, 0, {}},
    {Type::kBool, "BOOL", 8, Field::kInt32, 8, DType::kBool},
    {Type::kFloat16, "FLOAT16", 16, Field::kInt32, 16, DType::kF16},
    {Type::kDouble, "DOUBLE", 64, Field::kDouble, 64, {}},
    {Type::kUint32, "UINT32", 32, Field::kUint64, 32, {}},
    {Type::kUint64, "UINT64", 64, Field::kUint64, 64, {}},
    {Type::kComplex64, "COMPLEX64", 64, Field::kFloat, 32, {}},
    {Type::kComplex128, "COMPLEX128", 128, Field::kDouble, 64, {}},
    {Type::kBfloat16, "BFLOAT16", 16, Field::kInt32, 16, DType::kBF16},
    {Type::kFloat8E4M3FN, "FLOAT8E4M3FN", 8, Field::kInt32, 8, {}},
    {Type::kFloat8E4M3FNUZ, "FLOAT8E4M3FNUZ", 8, Field::kInt32, 8, {}},
    {Type::kFloat8E5M2, "FLOAT8E5M2", 8, Field::kInt32, 8, {}},
    {Type::kFloat8E5M2FNUZ, "FLOAT8E5M2FNUZ", 8, Field::kInt32, 8, {}},
    {Type::kUint4, "UINT4", 4, Field::kInt32, 8, {}},
    {Type::kInt4, "INT4", 4, Field::kInt32, 8, {}},
    {Type::kFloat4E2M1, "FLOAT4E2M1", 4, Field::kInt32, 8, {}},
    {Type::kFloat8E8M0, "FLOAT8E8M0", 8, Field::kInt32, 8, {}},
    {Type::kUint2, "UINT2", 2, Field::kInt32, 8, {}},
    {Type::kInt2, "INT2", 2, Field::kInt32, 8, {}},
    {Type::kFloat6E2M3, "FLOAT6E2M3", 6, Field::kInt32, 6, {}},
    {Type::kFloat6E3M2, "FLOAT6E3M2", 6, Field::kInt32, 6, {}},
};

}  // namespace

std::string_view OnnxDataFieldName(OnnxDataField field) {
  switch (field) {
    case Field::kNone:
      return "no field";
    case Field::kFloat:
      return "float_data";
    case Field::kInt32:
      return "int32_data";
    case Field::kString:
      return "string_data";
    case Field::kInt64:
      return "int64_data";
    case Field::kDouble:
      return "double_data";
    case Field::kUint64:
      return "uint64_data";
  }
  return "unknown";
}

std::span<const OnnxDataTypeInfo> AllOnnxDataTypes() { return kTypes; }

const OnnxDataTypeInfo* FindOnnxDataType(OnnxDataType type) {
  const auto found = std::ranges::find(kTypes, type, &OnnxDataTypeInfo::type);
  return found == std::ranges::end(kTypes) ? nullptr : &*found;
}

std::string OnnxDataTypeName(OnnxDataType type) {
  const OnnxDataTypeInfo* info = FindOnnxDataType(type);
  return info ? std::string(info->name) : fmt::format("data type {}", static_cast<int>(type));
}

}  // namespace tboost
