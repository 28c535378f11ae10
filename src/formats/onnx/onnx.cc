#include "src/formats/onnx/onnx.h"

#include <algorithm>
#include <filesystem>
#include <new>

#include "src/formats/onnx/external.h"
#include "src/formats/onnx/parse.h"
#include "src/formats/quoted.h"

namespace tboost {
namespace {

// An operator type or domain in a message: as Quoted, without the quotes.
std::string Plain(std::string_view text) {
  const std::string quoted = Quoted(text);
  return quoted.substr(1, quoted.size() - 2);
}

// Parses file 0 of `model`.
Result<OnnxModel> Load(OnnxModel model, std::optional<std::string> folder,
                       std::span<const OnnxBuffer> buffers) {
  const std::string name = model.files[0].name;
  try {
    ExternalFiles files(std::move(folder), buffers, model.files);
    const Status status = ParseModel(model.files[0].bytes, files, model);
    if (!status.ok()) return status.WithContext(name);
    return model;
  } catch (const std::bad_alloc&) {
    return ResourceExhaustedError("{}: not enough memory to read the model's structure", name);
  }
}

}  // namespace

Result<OnnxModel> OnnxModel::Open(const std::string& path) {
  TBOOST_ASSIGN_OR_RETURN(MappedFile mapping, MappedFile::Open(path));
  const std::string_view bytes = mapping.bytes();
  OnnxModel model;
  model.files.push_back({path, bytes, std::move(mapping)});
  const std::string folder = std::filesystem::path(path).parent_path();
  return Load(std::move(model), folder.empty() ? "." : folder, {});
}

Result<OnnxModel> OnnxModel::FromBytes(std::string_view bytes, std::string_view name,
                                       std::span<const OnnxBuffer> buffers) {
  OnnxModel model;
  model.files.push_back({std::string(name), bytes, {}});
  return Load(std::move(model), {}, buffers);
}

std::optional<int64_t> OnnxModel::OpsetVersion(std::string_view domain) const {
  const auto found = std::ranges::find(opsets, domain, &OnnxOpset::domain);
  if (found == opsets.end()) return std::nullopt;
  return found->version;
}

const OnnxAttribute* OnnxNode::Find(std::string_view attribute) const {
  const auto found = std::ranges::find(attributes, attribute, &OnnxAttribute::name);
  return found == attributes.end() ? nullptr : &*found;
}

std::string Label(const OnnxNode& node) {
  const std::string domain = node.domain.empty() ? "" : Plain(node.domain) + "::";
  return fmt::format("node {} ({}{})", Quoted(node.name), domain, Plain(node.op_type));
}

std::string Label(const OnnxTensor& tensor) {
  return fmt::format("tensor {}", Quoted(tensor.name));
}

std::string Label(const OnnxAttribute& attribute) {
  return fmt::format("attribute {}", Quoted(attribute.name));
}

std::string Label(const OnnxFunction& function) {
  return fmt::format("function {} of domain {}", Quoted(function.name), Quoted(function.domain));
}

}  // namespace tboost
