// Tensors of ONNX files: from the fields of a TensorProto to where its elements lie, and decoding.
#pragma once

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "src/base/status.h"
#include "src/formats/onnx/external.h"
#include "src/formats/onnx/onnx.h"
#include "src/formats/onnx/wire.h"

namespace tboost {

using StringPair = std::pair<std::string_view, std::string_view>;

// The fields as they are found, in any order.
struct TensorFields {
  std::string_view message;
  std::string_view name;
  OnnxDataType type = OnnxDataType::kUndefined;
  std::vector<int64_t> dims;
  std::optional<std::string_view> raw_data;
  // The typed field: how many numbers or strings, and the bytes of its last run of packed numbers.
  OnnxDataField typed = OnnxDataField::kNone;
  uint64_t entries = 0;
  uint64_t runs = 0;
  std::string_view run;
  std::vector<StringPair> external;
  int64_t location = 0;
  bool segmented = false;
};

// Counts one occurrence of a field of elements; a second kind of field is kCorrupt.
Status AddTypedData(const WireField& field, TensorFields& fields);

// Checks the fields against one another and against the file or external data that has the
// elements: their number is exactly what the dimensions say. `model` is the file of the structure.
Result<OnnxTensor> PlaceTensor(const TensorFields& fields, std::string_view model,
                               ExternalFiles& files);

}  // namespace tboost
