// ONNX models for tests, built field by field by protozero's writer. Strings of fields are
// messages; joined with +, they are the message with the fields of both.
#pragma once

#include <initializer_list>
#include <protozero/pbf_writer.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "src/formats/onnx/onnx.h"

namespace tboost::testing {

inline std::string Field(uint32_t number, std::string_view bytes) {
  std::string out;
  protozero::pbf_writer(out).add_bytes(number, bytes.data(), bytes.size());
  return out;
}
inline std::string Field(uint32_t number, int64_t value) {
  std::string out;
  protozero::pbf_writer(out).add_int64(number, value);
  return out;
}
inline std::string FloatField(uint32_t number, float value) {
  std::string out;
  protozero::pbf_writer(out).add_float(number, value);
  return out;
}
// What stands before `size` bytes of a field.
inline std::string FieldHead(uint32_t number, uint64_t size) {
  std::string out;
  protozero::add_varint_to_buffer(&out, uint64_t{number} << 3 | 2);
  protozero::add_varint_to_buffer(&out, size);
  return out;
}
inline std::string Packed(uint32_t number, const std::vector<int64_t>& values) {
  std::string out;
  protozero::pbf_writer(out).add_packed_int64(number, values.begin(), values.end());
  return out;
}
inline std::string PackedFloats(uint32_t number, const std::vector<float>& values) {
  std::string out;
  protozero::pbf_writer(out).add_packed_float(number, values.begin(), values.end());
  return out;
}

// TensorProto without elements.
inline std::string TensorHead(std::string_view name, OnnxDataType type,
                              const std::vector<int64_t>& dims) {
  return Packed(1, dims) + Field(2, static_cast<int64_t>(type)) + Field(8, name);
}
inline std::string RawTensor(std::string_view name, OnnxDataType type,
                             const std::vector<int64_t>& dims, std::string_view bytes) {
  return TensorHead(name, type, dims) + Field(9, bytes);
}
inline std::string ExternalTensor(std::string_view name, const std::vector<int64_t>& dims,
                                  const std::vector<std::pair<std::string, std::string>>& data) {
  std::string out = TensorHead(name, OnnxDataType::kFloat, dims) + Field(14, 1);
  for (const auto& [key, value] : data) out += Field(13, Field(1, key) + Field(2, value));
  return out;
}
inline std::string Attribute(std::string_view name, OnnxAttributeType type,
                             std::string_view fields) {
  return Field(1, name) + std::string(fields) + Field(20, static_cast<int64_t>(type));
}
inline std::string Node(std::string_view op_type, const std::vector<std::string>& inputs,
                        const std::vector<std::string>& outputs,
                        const std::vector<std::string>& attributes = {}) {
  std::string out;
  for (const std::string& input : inputs) out += Field(1, input);
  for (const std::string& output : outputs) out += Field(2, output);
  out += Field(3, "n_" + (outputs.empty() ? "" : outputs[0])) + Field(4, op_type);
  for (const std::string& attribute : attributes) out += Field(5, attribute);
  return out;
}
inline std::string Value(std::string_view name, std::string_view type = "") {
  return Field(1, name) + (type.empty() ? "" : Field(2, type));
}
// A graph with the output "y" and these fields.
inline std::string Graph(std::string_view fields) {
  return Field(2, "g") + std::string(fields) + Field(12, Value("y"));
}
// A model of this graph and these fields.
inline std::string Model(std::string_view graph, std::string_view fields = "") {
  return Field(1, 8) + Field(8, Field(1, "") + Field(2, 17)) + std::string(fields) +
         Field(7, Graph(graph));
}
inline std::string ModelOfTensor(std::string_view tensor) { return Model(Field(5, tensor)); }

inline Result<OnnxModel> Parse(const std::string& bytes) {
  return OnnxModel::FromBytes(bytes, "m.onnx");
}

}  // namespace tboost::testing
