#include "src/formats/onnx/finish.h"

#include <algorithm>
#include <tuple>

#include "src/formats/quoted.h"

namespace tboost {
namespace {

using Names = std::vector<std::string_view>;

// Sorts rather than hashes: no input makes it slow.
Status CheckUnique(Names names, std::string_view kind) {
  std::ranges::sort(names);
  const auto twice = std::ranges::adjacent_find(names);
  if (twice == names.end()) return OkStatus();
  return CorruptError("{} {} is there twice", kind, Quoted(*twice));
}

void NormaliseDomain(std::string_view& domain) {
  if (domain == "ai.onnx") domain = {};
}

// The values that nodes give, except absent ones.
Names Outputs(const std::vector<OnnxNode>& nodes) {
  Names names;
  for (const OnnxNode& node : nodes)
    for (const std::string_view output : node.outputs)
      if (!output.empty()) names.push_back(output);
  return names;
}

// Drops repetitions, which optimisers write; two versions of a domain are refused.
Status UniqueOpsets(std::vector<OnnxOpset>& opsets) {
  const auto key = [](const OnnxOpset& opset) { return std::pair(opset.domain, opset.version); };
  std::ranges::sort(opsets, {}, key);
  const auto same = [&](const OnnxOpset& a, const OnnxOpset& b) { return key(a) == key(b); };
  opsets.erase(std::unique(opsets.begin(), opsets.end(), same), opsets.end());
  Names domains;
  for (const OnnxOpset& opset : opsets) domains.push_back(opset.domain);
  return CheckUnique(std::move(domains), "the operator set");
}

Status CheckAttributes(const std::vector<OnnxAttribute>& attributes) {
  Names names;
  for (const OnnxAttribute& attribute : attributes) names.push_back(attribute.name);
  return CheckUnique(std::move(names), "attribute");
}

Status ExpectOne(size_t count, std::string_view what) {
  if (count == 1) return OkStatus();
  return CorruptError("{} {}, expected 1", count, what);
}

}  // namespace

Status Finish(OnnxDim& dim) {
  dim.value = std::max<int64_t>(dim.value, -1);
  return OkStatus();
}

Status Finish(OnnxAttribute& attribute) {
  using Type = OnnxAttributeType;
  if (attribute.type < Type::kFloat || attribute.type > Type::kTypeProtos)
    return CorruptError("attribute type {}, expected 1 to {}", static_cast<int>(attribute.type),
                        static_cast<int>(Type::kTypeProtos));
  if (!attribute.ref_attr_name.empty()) return OkStatus();
  switch (attribute.type) {
    case Type::kTensor:
      return ExpectOne(attribute.tensors.size(), "tensors");
    case Type::kGraph:
      return ExpectOne(attribute.graphs.size(), "graphs");
    case Type::kTypeProto:
      return ExpectOne(attribute.types.size(), "types");
    case Type::kSparseTensor:
    case Type::kSparseTensors:
      return UnsupportedError("a sparse tensor; store it as a dense one");
    default:
      return OkStatus();
  }
}

Status Finish(OnnxNode& node) {
  NormaliseDomain(node.domain);
  if (node.op_type.empty()) return CorruptError("no operator type");
  return CheckAttributes(node.attributes);
}

Status Finish(OnnxGraph& graph) {
  Names values = Outputs(graph.nodes);
  const size_t outputs = values.size();
  for (const OnnxTensor& initializer : graph.initializers) values.push_back(initializer.name);
  TBOOST_RETURN_IF_ERROR(CheckUnique(values, "value"));
  values.resize(outputs);
  for (const OnnxValue& input : graph.inputs) values.push_back(input.name);
  return CheckUnique(std::move(values), "value");
}

Status Finish(OnnxOpset& opset) {
  NormaliseDomain(opset.domain);
  return OkStatus();
}

Status Finish(OnnxFunction& function) {
  NormaliseDomain(function.domain);
  TBOOST_RETURN_IF_ERROR(UniqueOpsets(function.opsets));
  TBOOST_RETURN_IF_ERROR(CheckAttributes(function.defaults));
  Names values = Outputs(function.nodes);
  values.insert(values.end(), function.inputs.begin(), function.inputs.end());
  return CheckUnique(std::move(values), "value");
}

Status Finish(OnnxModel& model) {
  if (model.graph.outputs.empty())
    return CorruptError("not an ONNX model, or one whose graph has no outputs");
  TBOOST_RETURN_IF_ERROR(UniqueOpsets(model.opsets));
  std::vector<const OnnxFunction*> functions;
  for (const OnnxFunction& function : model.functions) functions.push_back(&function);
  const auto key = [](const OnnxFunction* f) { return std::tie(f->domain, f->name, f->overload); };
  std::ranges::sort(functions, {}, key);
  const auto twice = std::ranges::adjacent_find(functions, {}, key);
  if (twice == functions.end()) return OkStatus();
  return CorruptError("{} is there twice", Label(**twice));
}

}  // namespace tboost
