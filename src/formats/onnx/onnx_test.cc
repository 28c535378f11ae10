#include "src/formats/onnx/onnx.h"

#include "src/formats/onnx/test_messages.h"
#include "src/formats/test_bytes.h"

namespace tboost {
namespace {

using testing::Attribute;
using ::testing::ElementsAre;
using testing::FailsWith;
using testing::Field;
using testing::Model;
using testing::Node;
using testing::Parse;
using testing::Value;
using AttributeType = OnnxAttributeType;

// The only attribute of a model's only node.
struct OneAttribute {
  explicit OneAttribute(std::string_view attribute)
      : bytes(Model(Field(1, Node("If", {}, {"y"}, {std::string(attribute)})))),
        model(Parse(bytes)) {}
  const OnnxAttribute& operator*() const { return model->graph.nodes[0].attributes[0]; }

  std::string bytes;
  Result<OnnxModel> model;
};

TEST(Onnx, ReadsAModelsFields) {
  const std::string function = Field(1, "f") + Field(4, "a") + Field(5, "b") + Field(6, "alpha") +
                               Field(7, Node("Relu", {"a"}, {"b"})) + Field(10, "local") +
                               Field(13, "o") + Field(9, Field(1, "") + Field(2, 18)) +
                               Field(11, Attribute("beta", AttributeType::kInt, Field(3, 4)));
  const std::string bytes = Model(
      Field(1, Node("Add", {"x", "", "w"}, {"y", ""}) + Field(7, "ai.onnx")) +
          Field(1, Node("f", {"y"}, {"z"}) + Field(7, "local") + Field(8, "o")) +
          Field(11, Value("x")) + Field(13, Value("z")),
      Field(2, "pytorch") + Field(3, "2.9") + Field(14, Field(1, "k") + Field(2, "v")) +
          Field(25, function) + Field(8, Field(1, "local") + Field(2, 1)) + Field(6, "unused"));
  const auto model = Parse(bytes);
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_EQ(model->ir_version, 8);
  EXPECT_EQ(model->producer_name, "pytorch");
  EXPECT_EQ(model->producer_version, "2.9");
  EXPECT_EQ(model->OpsetVersion(""), 17);
  EXPECT_EQ(model->OpsetVersion("local"), 1);
  EXPECT_EQ(model->OpsetVersion("com.microsoft"), std::nullopt);
  EXPECT_THAT(model->metadata, ElementsAre(std::pair("k", "v")));
  const OnnxGraph& graph = model->graph;
  ASSERT_EQ(graph.nodes.size(), 2u);
  EXPECT_EQ(graph.name, "g");
  EXPECT_EQ(graph.nodes[0].domain, "");
  EXPECT_EQ(graph.nodes[0].name, "n_y");
  EXPECT_THAT(graph.nodes[0].inputs, ElementsAre("x", "", "w"));
  EXPECT_THAT(graph.nodes[0].outputs, ElementsAre("y", ""));
  EXPECT_EQ(graph.nodes[1].overload, "o");
  EXPECT_EQ(Label(graph.nodes[1]), "node \"n_z\" (local::f)");
  EXPECT_EQ(graph.inputs[0].name, "x");
  EXPECT_EQ(graph.outputs[0].name, "y");
  EXPECT_EQ(graph.value_info[0].name, "z");
  ASSERT_EQ(model->functions.size(), 1u);
  const OnnxFunction& local = model->functions[0];
  EXPECT_EQ(Label(local), "function \"f\" of domain \"local\"");
  EXPECT_EQ(local.overload, "o");
  EXPECT_THAT(local.inputs, ElementsAre("a"));
  EXPECT_THAT(local.outputs, ElementsAre("b"));
  EXPECT_THAT(local.attributes, ElementsAre("alpha"));
  EXPECT_EQ(local.defaults[0].i, 4);
  EXPECT_EQ(local.nodes[0].op_type, "Relu");
  EXPECT_EQ(local.opsets[0].version, 18);
}

TEST(Onnx, ReadsEveryKindOfAttribute) {
  EXPECT_EQ((*OneAttribute(Attribute("a", AttributeType::kFloat, testing::FloatField(2, 0.5f)))).f,
            0.5f);
  EXPECT_EQ((*OneAttribute(Attribute("a", AttributeType::kInt, Field(3, -3)))).i, -3);
  EXPECT_EQ((*OneAttribute(Attribute("a", AttributeType::kString, Field(4, "s")))).s, "s");
  const OneAttribute floats(Attribute(
      "a", AttributeType::kFloats, testing::PackedFloats(7, {1, 2}) + testing::FloatField(7, 3)));
  EXPECT_THAT((*floats).floats, ElementsAre(1, 2, 3));
  const OneAttribute ints(
      Attribute("a", AttributeType::kInts, Field(8, -1) + testing::Packed(8, {2, 3})));
  EXPECT_THAT((*ints).ints, ElementsAre(-1, 2, 3));
  const OneAttribute strings(Attribute("a", AttributeType::kStrings, Field(9, "s") + Field(9, "")));
  EXPECT_THAT((*strings).strings, ElementsAre("s", ""));
  const std::string tensor = testing::RawTensor("t", OnnxDataType::kUint8, {2}, "ab");
  const OneAttribute one(Attribute("a", AttributeType::kTensor, Field(5, tensor)));
  EXPECT_EQ(one.model->Bytes(*(*one).tensors[0].range), "ab");
  const OneAttribute two(
      Attribute("a", AttributeType::kTensors, Field(10, tensor) + Field(10, tensor)));
  EXPECT_EQ((*two).tensors.size(), 2u);
  const std::string graph = testing::Graph(Field(1, Node("Add", {"x", "x"}, {"y"})));
  const OneAttribute branch(Attribute("a", AttributeType::kGraph, Field(6, graph)));
  EXPECT_EQ((*branch).graphs[0].nodes[0].op_type, "Add");
  const OneAttribute graphs(Attribute("a", AttributeType::kGraphs, Field(11, graph)));
  EXPECT_EQ((*graphs).graphs.size(), 1u);
  const std::string type = Field(1, Field(1, 1));
  const OneAttribute typed(Attribute("a", AttributeType::kTypeProto, Field(14, type)));
  EXPECT_EQ((*typed).types[0].element, OnnxDataType::kFloat);
  const OneAttribute types(
      Attribute("a", AttributeType::kTypeProtos, Field(15, type) + Field(15, type)));
  EXPECT_EQ((*types).types.size(), 2u);
  const OneAttribute reference(Attribute("a", AttributeType::kTensor, Field(21, "outer")));
  EXPECT_EQ((*reference).ref_attr_name, "outer");
  EXPECT_EQ(reference.model->graph.nodes[0].Find("a"), &*reference);
  EXPECT_EQ(reference.model->graph.nodes[0].Find("b"), nullptr);
}

TEST(Onnx, AttributesWithoutTypeHaveThatOfTheirValue) {
  EXPECT_EQ((*OneAttribute(Field(1, "a") + Field(3, 7))).type, AttributeType::kInt);
  EXPECT_EQ((*OneAttribute(Field(1, "a") + testing::Packed(8, {7}))).type, AttributeType::kInts);
  // The type is what is said, wherever it stands.
  EXPECT_EQ((*OneAttribute(Field(1, "a") + Field(3, 7) + Field(20, 2) + Field(4, "s"))).type,
            AttributeType::kInt);
  // Writers that leave zeros out leave out the value.
  EXPECT_EQ((*OneAttribute(Attribute("axis", AttributeType::kInt, ""))).i, 0);
}

TEST(Onnx, RefusesWrongAttributes) {
  const auto fails = [](std::string_view attribute, StatusCode code, std::string_view message) {
    const OneAttribute one(attribute);
    EXPECT_THAT(one.model, FailsWith(code, message));
    EXPECT_THAT(one.model, FailsWith(code, "m.onnx: node \"n_y\" (If): attribute \"a\": "));
  };
  constexpr auto kCorrupt = StatusCode::kCorrupt;
  fails(Attribute("a", AttributeType::kTensor, ""), kCorrupt, "0 tensors, expected 1");
  fails(Attribute("a", AttributeType::kGraph, Field(6, "") + Field(6, "")), kCorrupt,
        "2 graphs, expected 1");
  fails(Attribute("a", AttributeType::kTypeProto, ""), kCorrupt, "0 types, expected 1");
  fails(Field(1, "a"), kCorrupt, "attribute type 0, expected 1 to 14");
  fails(Field(1, "a") + Field(20, 99), kCorrupt, "attribute type 99");
  fails(Field(1, "a") + Field(20, 11), StatusCode::kUnsupported, "a sparse tensor");
  fails(Field(1, "a") + Field(3, "text"), kCorrupt, "i at byte");
  fails(Field(1, "a") + Field(2, 3), kCorrupt, "expected a 32-bit number, got a varint");
  fails(Field(1, "a") + Field(4, 3), kCorrupt, "s at byte");
  fails(Field(1, "a") + Field(20, "x"), kCorrupt, "type at byte");
  fails(Field(1, "a") + Field(6, 3), kCorrupt, "g at byte");
}

TEST(Onnx, ReadsTypes) {
  const std::string dims =
      Field(1, Field(1, 3)) + Field(1, Field(2, "N")) + Field(1, "") + Field(1, Field(1, -5));
  const std::string tensor = Field(1, Field(1, 1) + Field(2, dims));
  const std::string scalar = Field(1, Field(1, 7) + Field(2, ""));
  const std::string bytes =
      Model(Field(11, Value("dims", tensor)) + Field(11, Value("scalar", scalar)) +
            Field(11, Value("ranks", Field(1, Field(1, 1)))) +
            Field(11, Value("sequence", Field(4, Field(1, tensor)))) +
            Field(11, Value("optional", Field(9, Field(1, Field(4, Field(1, scalar)))))) +
            Field(11, Value("map", Field(5, Field(1, 8) + Field(2, scalar)))) +
            Field(11, Value("sparse", Field(8, Field(1, 11) + Field(2, dims)))) +
            Field(11, Value("opaque", Field(7, Field(1, "d")))) + Field(11, Value("none")));
  const auto model = Parse(bytes);
  ASSERT_TRUE(model.ok()) << model.status().message();
  using Kind = OnnxType::Kind;
  const std::vector<OnnxValue>& inputs = model->graph.inputs;
  const OnnxType& first = inputs[0].type;
  EXPECT_EQ(first.kind, Kind::kTensor);
  ASSERT_EQ(first.dims->size(), 4u);
  EXPECT_EQ((*first.dims)[0].value, 3);
  EXPECT_EQ((*first.dims)[1].name, "N");
  EXPECT_EQ((*first.dims)[1].value, -1);
  EXPECT_EQ((*first.dims)[2].value, -1);
  EXPECT_EQ((*first.dims)[3].value, -1);
  EXPECT_EQ(inputs[1].type.element, OnnxDataType::kInt64);
  EXPECT_EQ(inputs[1].type.dims->size(), 0u);
  EXPECT_FALSE(inputs[2].type.dims.has_value());
  EXPECT_EQ(inputs[3].type.kind, Kind::kSequence);
  EXPECT_EQ(inputs[3].type.inner[0].dims->size(), 4u);
  EXPECT_EQ(inputs[4].type.kind, Kind::kOptional);
  EXPECT_EQ(inputs[4].type.inner[0].inner[0].element, OnnxDataType::kInt64);
  EXPECT_EQ(inputs[5].type.kind, Kind::kMap);
  EXPECT_EQ(inputs[5].type.element, OnnxDataType::kString);
  EXPECT_EQ(inputs[6].type.kind, Kind::kSparseTensor);
  EXPECT_EQ(inputs[7].type.kind, Kind::kOpaque);
  EXPECT_EQ(inputs[8].type.kind, Kind::kNone);
}

TEST(Onnx, MessagesGivenTwiceAddUp) {
  const std::string scalar = Field(1, Field(1, 7));
  const std::string bytes =
      Model(Field(11, Value("x", Field(4, Field(1, Field(1, Field(1, 1)))) +
                                     Field(4, Field(1, Field(1, Field(2, "")))))) +
            Field(1, Node("Relu", {"x"}, {"y"}))) +
      Field(7, Field(1, Node("Relu", {"y"}, {"z"})));
  const auto model = Parse(bytes);
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_EQ(model->graph.nodes.size(), 2u);
  const OnnxType& type = model->graph.inputs[0].type;
  ASSERT_EQ(type.inner.size(), 1u);
  EXPECT_EQ(type.inner[0].element, OnnxDataType::kFloat);
  EXPECT_EQ(type.inner[0].dims->size(), 0u);
}

TEST(Onnx, RefusesWhatIsThereTwice) {
  const std::string relu = Field(1, Node("Relu", {"x"}, {"y"}));
  const std::string w = Field(5, testing::RawTensor("w", OnnxDataType::kUint8, {}, "a"));
  const std::string function = Field(25, Field(1, "f") + Field(10, "d"));
  const auto opset = [](std::string_view domain, int64_t version) {
    return Field(8, Field(1, domain) + Field(2, version));
  };
  const std::string attribute = Attribute("axis", AttributeType::kInt, "");
  const std::pair<std::string, std::string> cases[] = {
      {Model(relu + relu), "value \"y\" is there twice"},
      {Model(w + w), "value \"w\" is there twice"},
      {Model(w + Field(1, Node("Relu", {"x"}, {"w"}))), "value \"w\" is there twice"},
      {Model(relu + Field(11, Value("y"))), "value \"y\" is there twice"},
      {Model(relu, function + function), "function \"f\" of domain \"d\" is there twice"},
      {Model(relu, opset("ai.onnx", 18)), "the operator set \"\" is there twice"},
      {Model(Field(1, Node("Relu", {}, {"y"}, {attribute, attribute}))),
       "node \"n_y\" (Relu): attribute \"axis\" is there twice"},
      {Model(relu, Field(25, Field(1, "f") + Field(7, Node("Relu", {"x"}, {"b"})) + Field(4, "b"))),
       "function \"f\" of domain \"\": value \"b\" is there twice"},
      {Model(relu, Field(25, Field(1, "f") + Field(11, attribute) + Field(11, attribute))),
       "attribute \"axis\" is there twice"},
  };
  for (const auto& [bytes, message] : cases)
    EXPECT_THAT(Parse(bytes), FailsWith(StatusCode::kCorrupt, message));
  // Absent outputs, defaults of inputs and repeated operator sets are no repetitions.
  const auto model = Parse(Model(Field(1, Node("A", {}, {"", ""})) + w + Field(11, Value("w")),
                                 opset("ai.onnx", 17) + opset("d", 1)));
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_EQ(model->opsets.size(), 2u);
}

TEST(Onnx, RefusesWhatIsNoModel) {
  for (const std::string& bytes :
       {std::string(), std::string("hello world, this is text"), std::string(64, '\0'), Field(1, 8),
        Field(1, 8) + Field(7, Field(2, "g"))})
    EXPECT_THAT(Parse(bytes), FailsWith(StatusCode::kCorrupt, "m.onnx: "));
  EXPECT_THAT(Parse(Field(1, 8)), FailsWith(StatusCode::kCorrupt, "not an ONNX model"));
  EXPECT_THAT(Parse(Model(Field(1, Field(1, "x")))),
              FailsWith(StatusCode::kCorrupt, "node \"\" (): no operator type"));
  EXPECT_THAT(Parse(Model(Field(15, Field(1, testing::TensorHead("s", OnnxDataType::kFloat, {}))))),
              FailsWith(StatusCode::kUnsupported, "tensor \"s\": a sparse initializer"));
}

TEST(Onnx, TruncatedAnywhereIsAnErrorOrAShorterModel) {
  const std::string bytes =
      Model(Field(1, Node("Add", {"x", "w"}, {"y"},
                          {Attribute("a", AttributeType::kInts, Field(8, 1))})) +
            Field(5, testing::RawTensor("w", OnnxDataType::kFloat, {2}, "12345678")));
  ASSERT_TRUE(Parse(bytes).ok());
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_THAT(Parse(bytes.substr(0, size)), FailsWith(StatusCode::kCorrupt, "m.onnx: ")) << size;
}

TEST(Onnx, OneFileMayHoldMoreThan4GiB) {
  const testing::TemporaryFolder folder;
  constexpr uint64_t kSize = (uint64_t{1} << 32) + 8;
  const std::string tensor =
      testing::TensorHead("w", OnnxDataType::kUint8, {kSize}) + testing::FieldHead(9, kSize);
  const std::string graph =
      Field(12, Value("y")) + testing::FieldHead(5, tensor.size() + kSize) + tensor;
  const std::string head = testing::FieldHead(7, graph.size() + kSize) + graph;
  const std::string path = folder.Write("m.onnx", head);
  // A hole but for the last byte.
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(head.size() + kSize - 1);
  file.put('z');
  file.close();
  const auto model = OnnxModel::Open(path);
  ASSERT_TRUE(model.ok()) << model.status().message();
  const OnnxRange& range = *model->graph.initializers[0].range;
  EXPECT_EQ(range.offset, head.size());
  EXPECT_EQ(range.size, kSize);
  EXPECT_EQ(model->Bytes(range).back(), 'z');
}

TEST(Onnx, GraphsNest64Deep) {
  const auto nested = [](int depth) {
    std::string graph = testing::Graph(Field(1, Node("Relu", {"x"}, {"y"})));
    for (int i = 0; i < depth; ++i)
      graph = testing::Graph(Field(
          1, Node("If", {}, {"y"}, {Attribute("b", AttributeType::kGraph, Field(6, graph))})));
    return Field(1, 8) + Field(7, graph);
  };
  EXPECT_TRUE(Parse(nested(64)).ok());
  EXPECT_THAT(Parse(nested(80)), FailsWith(StatusCode::kCorrupt, "messages nest more than"));
}

TEST(Onnx, VeryDeepNestingTakesNoStack) {
  // From the inside out: each level is a length and two tags around what is there.
  constexpr int kDepth = 100000;
  std::vector<std::string> heads;
  uint64_t size = 0;
  const auto wrap = [&](uint32_t number) {
    heads.push_back(testing::FieldHead(number, size));
    size += heads.back().size();
  };
  for (int i = 0; i < kDepth; ++i) {
    wrap(1);  // Sequence.elem_type
    wrap(4);  // TypeProto.sequence_type
  }
  for (const uint32_t number : {2, 11, 7}) wrap(number);  // a graph's input's type
  std::string bytes;
  for (auto head = heads.rbegin(); head != heads.rend(); ++head) bytes += *head;
  EXPECT_THAT(Parse(bytes), FailsWith(StatusCode::kCorrupt, "messages nest more than"));
}

TEST(Onnx, AStructureOfMuchMoreMemoryThanItsFileIsRefused) {
  std::string attributes;  // of four bytes each, of which every one takes hundreds in memory
  for (int i = 0; i < 250000; ++i) attributes += std::string_view("\x2a\x02\x18\x00", 4);
  EXPECT_THAT(Parse(Model(Field(1, Field(4, "If") + attributes))),
              FailsWith(StatusCode::kResourceExhausted, "structure takes more than"));
}

}  // namespace
}  // namespace tboost
