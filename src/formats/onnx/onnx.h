// ONNX models as their files have them: structure, names and types in plain structs, weights where
// they lie. Strings and tensors are views of the mapped files, so nothing of the weights is copied.
// Source of the format: onnx.proto of the ONNX project, up to IR version 14; what later versions
// add is skipped. Whether operators are known is not looked at here.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/base/file.h"
#include "src/base/status.h"
#include "src/formats/onnx/data_type.h"

namespace tboost {

// A range of one of a model's files.
struct OnnxRange {
  int file = 0;  // index into OnnxModel::files
  uint64_t offset = 0;
  uint64_t size = 0;
};

struct OnnxTensor {
  std::string_view name;  // "" for most attributes
  OnnxDataType type = OnnxDataType::kUndefined;
  std::vector<int64_t> dims;  // at most 8, none negative
  uint64_t elements = 1;      // their product
  uint64_t bytes = 0;         // of all elements, as in `range`; 0 for strings
  // Where the elements lie as such: row-major, little-endian, those below 8 bits packed from the
  // low bits up. Nullopt where they are strings or coded as varints: OnnxModel::Read decodes these.
  std::optional<OnnxRange> range;
  std::string_view message;  // the TensorProto itself
};

struct OnnxDim {
  int64_t value = -1;     // -1: known only when the model runs
  std::string_view name;  // its symbol, if any: dimensions of one symbol are equal
};

struct OnnxType {
  enum class Kind : uint8_t { kNone, kTensor, kSparseTensor, kSequence, kOptional, kMap, kOpaque };
  Kind kind = Kind::kNone;
  OnnxDataType element = OnnxDataType::kUndefined;  // of tensors; of a map the keys'
  std::optional<std::vector<OnnxDim>> dims;         // of tensors; nullopt: of any rank
  std::vector<OnnxType> inner;                      // of sequences, optionals, maps: at most one
};

struct OnnxValue {
  std::string_view name;
  OnnxType type;
};

struct OnnxGraph;

// By the numbers of AttributeProto.AttributeType.
enum class OnnxAttributeType : int32_t {
  kUndefined = 0,
  kFloat = 1,
  kInt = 2,
  kString = 3,
  kTensor = 4,
  kGraph = 5,
  kFloats = 6,
  kInts = 7,
  kStrings = 8,
  kTensors = 9,
  kGraphs = 10,
  kSparseTensor = 11,
  kSparseTensors = 12,
  kTypeProto = 13,
  kTypeProtos = 14,
};

// Only what `type` says counts; a value that is absent is 0 or empty, as writers leave these out.
struct OnnxAttribute {
  std::string_view name;
  OnnxAttributeType type = OnnxAttributeType::kUndefined;  // never so in a model that was read
  // In functions: the attribute of the call that gives the value. "" where the value is here.
  std::string_view ref_attr_name;
  float f = 0;
  int64_t i = 0;
  std::string_view s;
  std::vector<float> floats;
  std::vector<int64_t> ints;
  std::vector<std::string_view> strings;
  std::vector<OnnxTensor> tensors;  // exactly one of kTensor
  std::vector<OnnxGraph> graphs;    // exactly one of kGraph
  std::vector<OnnxType> types;      // exactly one of kTypeProto
};

struct OnnxNode {
  std::string_view op_type;
  std::string_view domain;  // "" for ai.onnx
  std::string_view overload;
  std::string_view name;                  // may be ""
  std::vector<std::string_view> inputs;   // "": absent
  std::vector<std::string_view> outputs;  // "": absent
  std::vector<OnnxAttribute> attributes;  // no name twice

  const OnnxAttribute* Find(std::string_view attribute) const;  // nullptr where absent
};

// Nodes are in file order, which need not be an order of execution, and may use values of the
// graphs around. Within a graph no two nodes give a value the same name, nor that of an input or
// initializer. An initializer of an input's name is its default.
struct OnnxGraph {
  std::string_view name;
  std::vector<OnnxNode> nodes;
  std::vector<OnnxTensor> initializers;
  std::vector<OnnxValue> inputs;
  std::vector<OnnxValue> outputs;
  std::vector<OnnxValue> value_info;
};

struct OnnxOpset {
  std::string_view domain;  // "" for ai.onnx
  int64_t version = 0;
};

struct OnnxFunction {
  std::string_view domain;  // "" for ai.onnx
  std::string_view name;
  std::string_view overload;
  std::vector<std::string_view> inputs;
  std::vector<std::string_view> outputs;
  std::vector<std::string_view> attributes;  // that a call must give
  std::vector<OnnxAttribute> defaults;       // that it may give
  std::vector<OnnxNode> nodes;
  std::vector<OnnxOpset> opsets;
  std::vector<OnnxValue> value_info;
};

// What a model lies in: the file of its structure first, then those of external data.
struct OnnxFile {
  std::string name;  // its path; of a buffer what messages call it
  std::string_view bytes;
  std::optional<MappedFile> mapping;  // holds the bytes; nullopt: the caller does
};

// External data in memory, in the place of a file of that name.
struct OnnxBuffer {
  std::string_view location;
  std::string_view bytes;
};

// A whole model. Movable; everything in it views `files`. Any number of threads may read.
struct OnnxModel {
  // Maps a file and the files of external data it names. These must be regular files inside its
  // folder: no absolute paths, no "..", no links that lead out (but to the blobs of a Hugging Face
  // cache), no further hard links. A file that breaks the format is kCorrupt; sparse tensors and
  // element types that are not in the format are kUnsupported. Takes time linear in the structure's
  // size, and memory beside the mappings up to a multiple of it; graphs may nest 64 deep. Messages
  // name the file, then node, attribute or tensor.
  static Result<OnnxModel> Open(const std::string& path);
  // The same of bytes that outlive the model; external data must be among `buffers`, which outlive
  // it too. `name` is what messages call it.
  static Result<OnnxModel> FromBytes(std::string_view bytes, std::string_view name,
                                     std::span<const OnnxBuffer> buffers = {});

  int64_t ir_version = 0;
  std::string_view producer_name;
  std::string_view producer_version;
  std::vector<OnnxOpset> opsets;  // no domain twice
  std::vector<std::pair<std::string_view, std::string_view>> metadata;
  OnnxGraph graph;
  std::vector<OnnxFunction> functions;  // no (domain, name, overload) twice
  std::vector<OnnxFile> files;

  // The version of a domain that the model imports; nullopt where it does not.
  std::optional<int64_t> OpsetVersion(std::string_view domain) const;
  // The bytes of a range, valid while the model lives; possibly unaligned.
  std::string_view Bytes(const OnnxRange& range) const {
    return files[range.file].bytes.substr(range.offset, range.size);
  }
  // A copy of the elements' bytes, in the form that OnnxTensor::range describes. kUnsupported for
  // strings; a varint that does not fit the element type is kCorrupt.
  Result<std::string> Read(const OnnxTensor& tensor) const;
  // The elements of a STRING tensor (else kInvalidArgument); they view the model.
  Result<std::vector<std::string_view>> ReadStrings(const OnnxTensor& tensor) const;
};

// How messages name things: `node "add_1" (Add)`.
std::string Label(const OnnxNode& node);
std::string Label(const OnnxTensor& tensor);
std::string Label(const OnnxAttribute& attribute);
std::string Label(const OnnxFunction& function);

}  // namespace tboost
