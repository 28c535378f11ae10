#include "src/formats/onnx/parse.h"

#include "src/formats/onnx/parser.h"

namespace tboost {
namespace {

// The rule of a field that goes into one member.
template <auto kMember, class T>
Status Put(OnnxParser& parser, const WireField& field, T& out) {
  return parser.Read(field, out.*kMember);
}

// The same for the value of an attribute; gives the type to attributes of the first IR version,
// which do not say it.
template <auto kMember, OnnxAttributeType kType>
Status PutValue(OnnxParser& parser, const WireField& field, OnnxAttribute& out) {
  if (out.type == OnnxAttributeType::kUndefined) out.type = kType;
  return parser.Read(field, out.*kMember);
}

constexpr OnnxRule<StringPair> kPairRules[] = {
    {1, "key", Put<&StringPair::first>},
    {2, "value", Put<&StringPair::second>},
};

Status PutRaw(OnnxParser&, const WireField& field, TensorFields& out) {
  out.raw_data = field.bytes;
  return ExpectType(field, WireType::kBytes);
}
Status PutTyped(OnnxParser&, const WireField& field, TensorFields& out) {
  return AddTypedData(field, out);
}
Status PutSegment(OnnxParser&, const WireField&, TensorFields& out) {
  out.segmented = true;
  return OkStatus();
}

constexpr OnnxRule<TensorFields> kTensorRules[] = {
    {1, "dims", Put<&TensorFields::dims>},
    {2, "data_type", Put<&TensorFields::type>},
    {3, "segment", PutSegment},
    {4, "float_data", PutTyped},
    {5, "int32_data", PutTyped},
    {6, "string_data", PutTyped},
    {7, "int64_data", PutTyped},
    {8, "name", Put<&TensorFields::name>},
    {9, "raw_data", PutRaw},
    {10, "double_data", PutTyped},
    {11, "uint64_data", PutTyped},
    {13, "external_data", Put<&TensorFields::external>},
    {14, "data_location", Put<&TensorFields::location>},
};

constexpr OnnxRule<OnnxDim> kDimRules[] = {
    {1, "dim_value", Put<&OnnxDim::value>},
    {2, "dim_param", Put<&OnnxDim::name>},
};
constexpr OnnxRule<std::vector<OnnxDim>> kShapeRules[] = {
    {1, "dim",
     [](OnnxParser& parser, const WireField& field, std::vector<OnnxDim>& out) {
       return parser.Read(field, out);
     }},
};

Status PutShape(OnnxParser& parser, const WireField& field, OnnxType& out) {
  if (!out.dims) out.dims.emplace();
  return parser.ReadMessage<std::vector<OnnxDim>>(field, kShapeRules, *out.dims);
}
Status PutInner(OnnxParser& parser, const WireField& field, OnnxType& out) {
  return out.inner.empty() ? parser.Read(field, out.inner) : parser.Read(field, out.inner[0]);
}

// The messages within TypeProto, one per kind of type; all are read into the one OnnxType.
constexpr OnnxRule<OnnxType> kTensorTypeRules[] = {
    {1, "elem_type", Put<&OnnxType::element>},
    {2, "shape", PutShape},
};
constexpr OnnxRule<OnnxType> kContainerTypeRules[] = {{1, "elem_type", PutInner}};
constexpr OnnxRule<OnnxType> kMapTypeRules[] = {
    {1, "key_type", Put<&OnnxType::element>},
    {2, "value_type", PutInner},
};

template <OnnxType::Kind kKind>
Status PutKind(OnnxParser& parser, const WireField& field, OnnxType& out) {
  using Kind = OnnxType::Kind;
  out.kind = kKind;
  OnnxRules<OnnxType> rules;
  if constexpr (kKind == Kind::kTensor || kKind == Kind::kSparseTensor) rules = kTensorTypeRules;
  if constexpr (kKind == Kind::kSequence || kKind == Kind::kOptional) rules = kContainerTypeRules;
  if constexpr (kKind == Kind::kMap) rules = kMapTypeRules;
  return parser.ReadMessage(field, rules, out);
}

constexpr OnnxRule<OnnxType> kTypeRules[] = {
    {1, "tensor_type", PutKind<OnnxType::Kind::kTensor>},
    {4, "sequence_type", PutKind<OnnxType::Kind::kSequence>},
    {5, "map_type", PutKind<OnnxType::Kind::kMap>},
    {7, "opaque_type", PutKind<OnnxType::Kind::kOpaque>},
    {8, "sparse_tensor_type", PutKind<OnnxType::Kind::kSparseTensor>},
    {9, "optional_type", PutKind<OnnxType::Kind::kOptional>},
};
constexpr OnnxRule<OnnxValue> kValueRules[] = {
    {1, "name", Put<&OnnxValue::name>},
    {2, "type", Put<&OnnxValue::type>},
};

using AttributeType = OnnxAttributeType;
constexpr OnnxRule<OnnxAttribute> kAttributeRules[] = {
    {1, "name", Put<&OnnxAttribute::name>},
    {2, "f", PutValue<&OnnxAttribute::f, AttributeType::kFloat>},
    {3, "i", PutValue<&OnnxAttribute::i, AttributeType::kInt>},
    {4, "s", PutValue<&OnnxAttribute::s, AttributeType::kString>},
    {5, "t", PutValue<&OnnxAttribute::tensors, AttributeType::kTensor>},
    {6, "g", PutValue<&OnnxAttribute::graphs, AttributeType::kGraph>},
    {7, "floats", PutValue<&OnnxAttribute::floats, AttributeType::kFloats>},
    {8, "ints", PutValue<&OnnxAttribute::ints, AttributeType::kInts>},
    {9, "strings", PutValue<&OnnxAttribute::strings, AttributeType::kStrings>},
    {10, "tensors", PutValue<&OnnxAttribute::tensors, AttributeType::kTensors>},
    {11, "graphs", PutValue<&OnnxAttribute::graphs, AttributeType::kGraphs>},
    {14, "tp", PutValue<&OnnxAttribute::types, AttributeType::kTypeProto>},
    {15, "type_protos", PutValue<&OnnxAttribute::types, AttributeType::kTypeProtos>},
    {20, "type", Put<&OnnxAttribute::type>},
    {21, "ref_attr_name", Put<&OnnxAttribute::ref_attr_name>},
};
constexpr OnnxRule<OnnxNode> kNodeRules[] = {
    {1, "input", Put<&OnnxNode::inputs>},
    {2, "output", Put<&OnnxNode::outputs>},
    {3, "name", Put<&OnnxNode::name>},
    {4, "op_type", Put<&OnnxNode::op_type>},
    {5, "attribute", Put<&OnnxNode::attributes>},
    {7, "domain", Put<&OnnxNode::domain>},
    {8, "overload", Put<&OnnxNode::overload>},
};

// A sparse initializer is refused by the name that its values carry.
constexpr OnnxRule<TensorFields> kSparseRules[] = {
    {1, "values",
     [](OnnxParser& parser, const WireField& field, TensorFields& out) {
       return parser.ReadMessage<TensorFields>(field, kTensorRules, out);
     }},
};
Status RefuseSparse(OnnxParser& parser, const WireField& field, OnnxGraph&) {
  TensorFields values;
  TBOOST_RETURN_IF_ERROR(parser.ReadMessage<TensorFields>(field, kSparseRules, values));
  OnnxTensor tensor;
  tensor.name = values.name;
  return UnsupportedError("{}: a sparse initializer; store it as a dense one", Label(tensor));
}

constexpr OnnxRule<OnnxGraph> kGraphRules[] = {
    {1, "node", Put<&OnnxGraph::nodes>},
    {2, "name", Put<&OnnxGraph::name>},
    {5, "initializer", Put<&OnnxGraph::initializers>},
    {11, "input", Put<&OnnxGraph::inputs>},
    {12, "output", Put<&OnnxGraph::outputs>},
    {13, "value_info", Put<&OnnxGraph::value_info>},
    {15, "sparse_initializer", RefuseSparse},
};
constexpr OnnxRule<OnnxOpset> kOpsetRules[] = {
    {1, "domain", Put<&OnnxOpset::domain>},
    {2, "version", Put<&OnnxOpset::version>},
};
constexpr OnnxRule<OnnxFunction> kFunctionRules[] = {
    {1, "name", Put<&OnnxFunction::name>},
    {4, "input", Put<&OnnxFunction::inputs>},
    {5, "output", Put<&OnnxFunction::outputs>},
    {6, "attribute", Put<&OnnxFunction::attributes>},
    {7, "node", Put<&OnnxFunction::nodes>},
    {9, "opset_import", Put<&OnnxFunction::opsets>},
    {10, "domain", Put<&OnnxFunction::domain>},
    {11, "attribute_proto", Put<&OnnxFunction::defaults>},
    {12, "value_info", Put<&OnnxFunction::value_info>},
    {13, "overload", Put<&OnnxFunction::overload>},
};
constexpr OnnxRule<OnnxModel> kModelRules[] = {
    {1, "ir_version", Put<&OnnxModel::ir_version>},
    {2, "producer_name", Put<&OnnxModel::producer_name>},
    {3, "producer_version", Put<&OnnxModel::producer_version>},
    {7, "graph", Put<&OnnxModel::graph>},
    {8, "opset_import", Put<&OnnxModel::opsets>},
    {14, "metadata_props", Put<&OnnxModel::metadata>},
    {25, "functions", Put<&OnnxModel::functions>},
};

}  // namespace

OnnxRules<OnnxDim> RulesOf(const OnnxDim&) { return kDimRules; }
OnnxRules<OnnxType> RulesOf(const OnnxType&) { return kTypeRules; }
OnnxRules<OnnxValue> RulesOf(const OnnxValue&) { return kValueRules; }
OnnxRules<OnnxAttribute> RulesOf(const OnnxAttribute&) { return kAttributeRules; }
OnnxRules<OnnxNode> RulesOf(const OnnxNode&) { return kNodeRules; }
OnnxRules<OnnxGraph> RulesOf(const OnnxGraph&) { return kGraphRules; }
OnnxRules<OnnxOpset> RulesOf(const OnnxOpset&) { return kOpsetRules; }
OnnxRules<OnnxFunction> RulesOf(const OnnxFunction&) { return kFunctionRules; }
OnnxRules<OnnxModel> RulesOf(const OnnxModel&) { return kModelRules; }
OnnxRules<StringPair> RulesOf(const StringPair&) { return kPairRules; }
OnnxRules<TensorFields> RulesOf(const TensorFields&) { return kTensorRules; }

Status ParseModel(std::string_view bytes, ExternalFiles& files, OnnxModel& model) {
  WireField whole;
  whole.type = WireType::kBytes;
  whole.bytes = bytes;
  return OnnxParser(bytes, files).Read(whole, model);
}

}  // namespace tboost
