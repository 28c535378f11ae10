// Says of whole models what tests/golden/onnx_golden.py says of what the onnx package reads.
#include <filesystem>
#include <functional>

#include "src/base/file.h"
#include "src/formats/onnx/onnx.h"
#include "src/formats/quoted.h"
#include "src/formats/test_bytes.h"

namespace tboost {
namespace {

std::string Hex(std::string_view bytes) {
  std::string out;
  for (const unsigned char byte : bytes) out += fmt::format("{:02x}", byte);
  return out;
}

std::string Words(const std::vector<std::string_view>& words) {
  std::string out;
  for (const std::string_view word : words) out += (out.empty() ? "" : " ") + Quoted(word);
  return out;
}

std::string OpsetText(std::vector<OnnxOpset> opsets) {
  std::ranges::sort(opsets, {}, &OnnxOpset::domain);
  std::string out;
  for (const OnnxOpset& opset : opsets)
    out += fmt::format("{}{}:{}", out.empty() ? "" : " ", Quoted(opset.domain), opset.version);
  return out;
}

std::string TypeText(const OnnxType& type) {
  using Kind = OnnxType::Kind;
  const auto tensor = [&](std::string_view kind) {
    std::string out = fmt::format("{} {}", kind, static_cast<int>(type.element));
    if (!type.dims) return out;
    std::string dims;
    for (const OnnxDim& dim : *type.dims)
      dims += fmt::format("{}{}{}", dims.empty() ? "" : ", ", dim.value, Quoted(dim.name));
    return fmt::format("{} [{}]", out, dims);
  };
  const auto container = [&](std::string_view kind) {
    return fmt::format("{} ({})", kind, TypeText(type.inner.at(0)));
  };
  switch (type.kind) {
    case Kind::kNone:
      return "none";
    case Kind::kTensor:
      return tensor("tensor_type");
    case Kind::kSparseTensor:
      return tensor("sparse_tensor_type");
    case Kind::kSequence:
      return container("sequence_type");
    case Kind::kOptional:
      return container("optional_type");
    case Kind::kMap:
      return container("map_type");
    case Kind::kOpaque:
      return "opaque_type";
  }
  return "unknown";
}

class Describer {
 public:
  explicit Describer(const OnnxModel& model) : model_(model) {}

  std::string Model() {
    Line("model {} {} {}", model_.ir_version, Quoted(model_.producer_name),
         Quoted(model_.producer_version));
    Line("opsets {}", OpsetText(model_.opsets));
    for (const auto& [key, value] : model_.metadata)
      Line("metadata {} {}", Quoted(key), Quoted(value));
    Graph(model_.graph);
    for (const OnnxFunction& function : model_.functions) Function(function);
    return out_;
  }

 private:
  template <class... Args>
  void Line(fmt::format_string<Args...> format, Args&&... args) {
    out_ += indent_ + fmt::format(format, std::forward<Args>(args)...) + "\n";
  }
  void Indented(const std::function<void()>& print) {
    indent_ += "  ";
    print();
    indent_.resize(indent_.size() - 2);
  }

  void Tensor(std::string_view label, const OnnxTensor& tensor) {
    const std::string elements = tensor.type == OnnxDataType::kString
                                     ? Words(*model_.ReadStrings(tensor))
                                     : Hex(*model_.Read(tensor));
    Line("{} {} {} [{}] {}", label, Quoted(tensor.name), OnnxDataTypeName(tensor.type),
         fmt::join(tensor.dims, ", "), elements);
  }

  std::string Scalars(const OnnxAttribute& attribute) {
    using Type = OnnxAttributeType;
    std::string out;
    const auto number = [&](float value) {
      out += " " + Hex({reinterpret_cast<const char*>(&value), sizeof(value)});
    };
    if (attribute.type == Type::kFloat) number(attribute.f);
    if (attribute.type == Type::kInt) out = fmt::format(" {}", attribute.i);
    if (attribute.type == Type::kString) out = " " + Quoted(attribute.s);
    for (const float value : attribute.floats) number(value);
    for (const int64_t value : attribute.ints) out += fmt::format(" {}", value);
    if (!attribute.strings.empty()) out += " " + Words(attribute.strings);
    return out;
  }

  void Attribute(const OnnxAttribute& attribute) {
    Line("attribute {} {} {}{}", Quoted(attribute.name), static_cast<int>(attribute.type),
         Quoted(attribute.ref_attr_name),
         attribute.ref_attr_name.empty() ? Scalars(attribute) : "");
    Indented([&] {
      for (const OnnxTensor& tensor : attribute.tensors) Tensor("tensor", tensor);
      for (const OnnxType& type : attribute.types) Line("type {}", TypeText(type));
      for (const OnnxGraph& graph : attribute.graphs) Graph(graph);
    });
  }

  void Node(const OnnxNode& node) {
    Line("node {} {} {} {}: {} -> {}", Quoted(node.name), Quoted(node.domain), Quoted(node.op_type),
         Quoted(node.overload), Words(node.inputs), Words(node.outputs));
    Indented([&] {
      for (const OnnxAttribute& attribute : node.attributes) Attribute(attribute);
    });
  }

  void Graph(const OnnxGraph& graph) {
    Line("graph {}", Quoted(graph.name));
    Indented([&] {
      const auto values = [this](std::string_view label, const std::vector<OnnxValue>& list) {
        for (const OnnxValue& value : list)
          Line("{} {} {}", label, Quoted(value.name), TypeText(value.type));
      };
      values("input", graph.inputs);
      values("output", graph.outputs);
      values("value", graph.value_info);
      for (const OnnxTensor& tensor : graph.initializers) Tensor("initializer", tensor);
      for (const OnnxNode& node : graph.nodes) Node(node);
    });
  }

  void Function(const OnnxFunction& function) {
    Line("function {} {} {} {}", Quoted(function.domain), Quoted(function.name),
         Quoted(function.overload), OpsetText(function.opsets));
    Indented([&] {
      const auto names = [this](std::string_view label, const auto& list) {
        for (const std::string_view name : list) Line("{} {}", label, Quoted(name));
      };
      names("input", function.inputs);
      names("output", function.outputs);
      names("attribute", function.attributes);
      for (const OnnxAttribute& attribute : function.defaults) Attribute(attribute);
      for (const OnnxNode& node : function.nodes) Node(node);
    });
  }

  const OnnxModel& model_;
  std::string out_;
  std::string indent_;
};

// TBOOST_ONNX_MODELS may name a folder with many more models, as the script writes it.
TEST(OnnxGolden, SaysWhatTheOnnxPackageSays) {
  const char* other = std::getenv("TBOOST_ONNX_MODELS");
  const std::filesystem::path folder =
      other != nullptr ? other : TBOOST_SOURCE_DIR "/tests/golden/onnx";
  int models = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::filesystem::path path = entry.path();
    if (path.extension() != ".onnx") continue;
    ++models;
    const auto model = OnnxModel::Open(path);
    ASSERT_TRUE(model.ok()) << model.status().message();
    const auto expected = ReadFile(path.replace_extension(".txt"));
    ASSERT_TRUE(expected.ok()) << expected.status().message();
    EXPECT_EQ(Describer(*model).Model(), *expected) << path;
  }
  EXPECT_GE(models, 10);
}

}  // namespace
}  // namespace tboost
