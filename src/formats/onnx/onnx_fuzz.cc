#include "src/formats/onnx/onnx.h"

namespace {

using tboost::OnnxGraph;
using tboost::OnnxModel;
using tboost::OnnxTensor;

void Check(bool condition) {
  if (!condition) __builtin_trap();
}

void ReadTensor(const OnnxModel& model, const OnnxTensor& tensor) {
  Check(tensor.dims.size() <= 8 && tboost::FindOnnxDataType(tensor.type) != nullptr);
  if (tensor.range) {
    const uint64_t size = model.files.at(tensor.range->file).bytes.size();
    Check(tensor.range->offset <= size && tensor.range->size <= size - tensor.range->offset);
    Check(tensor.range->size == tensor.bytes);
  }
  const auto bytes = model.Read(tensor);
  if (bytes.ok()) Check(bytes->size() == tensor.bytes);
  const auto strings = model.ReadStrings(tensor);
  if (strings.ok()) Check(strings->size() == tensor.elements);
}

void ReadNodes(const OnnxModel& model, const std::vector<tboost::OnnxNode>& nodes);

void ReadGraph(const OnnxModel& model, const OnnxGraph& graph) {
  for (const OnnxTensor& tensor : graph.initializers) ReadTensor(model, tensor);
  ReadNodes(model, graph.nodes);
}

void ReadNodes(const OnnxModel& model, const std::vector<tboost::OnnxNode>& nodes) {
  for (const tboost::OnnxNode& node : nodes) {
    Check(!Label(node).empty());
    for (const tboost::OnnxAttribute& attribute : node.attributes) {
      Check(node.Find(attribute.name) == &attribute);
      for (const OnnxTensor& tensor : attribute.tensors) ReadTensor(model, tensor);
      for (const OnnxGraph& graph : attribute.graphs) ReadGraph(model, graph);
    }
  }
}

}  // namespace

// Parses a model, then reads everything its structure and tensors promise.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const tboost::OnnxBuffer external = {"w", bytes};
  const auto model = OnnxModel::FromBytes(bytes, "fuzz", {&external, 1});
  if (!model.ok()) return 0;
  ReadGraph(*model, model->graph);
  for (const tboost::OnnxFunction& function : model->functions) ReadNodes(*model, function.nodes);
  for (const tboost::OnnxOpset& opset : model->opsets)
    Check(model->OpsetVersion(opset.domain) == opset.version);
  return 0;
}
