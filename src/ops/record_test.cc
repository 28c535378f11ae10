// What every record of an operator must have and how it answers to types and attributes, good and
// bad.
#include <gtest/gtest.h>

#include <limits>
#include <set>

#include "src/ops/interpreter.h"
#include "src/ops/ops_testing.h"

namespace tboost {
namespace {

using Kind = ValueType::Kind;

TEST(Registry, NamesAreUniqueAndFound) {
  std::set<std::string_view> names;
  for (const OpRecord* op : BuiltinOps().records) {
    EXPECT_TRUE(names.insert(op->name).second) << op->name;
    EXPECT_EQ(BuiltinOps().Find(op->name), op);
  }
  EXPECT_EQ(BuiltinOps().Find("linea"), nullptr);
}

class RecordTest : public testing::TestWithParam<const OpRecord*> {
 protected:
  const OpRecord& op() const { return *GetParam(); }
  Result<std::vector<ValueType>> Infer(const OpCase& test) const {
    const auto present = std::make_unique<bool[]>(test.present.size());
    std::ranges::copy(test.present, present.get());
    return op().infer(test.inputs, {present.get(), test.present.size()}, test.attributes);
  }
};

TEST_P(RecordTest, IsComplete) {
  EXPECT_FALSE(op().doc.empty());
  EXPECT_FALSE(op().outputs.empty());
  EXPECT_TRUE(op().infer && op().reference && op().cost && op().cases);
  EXPECT_FALSE(op().cases().empty());
  std::set<std::string_view> names;
  for (const OperandSpec& input : op().inputs) EXPECT_TRUE(names.insert(input.name).second);
  for (const AttributeSpec& attribute : op().attributes) {
    EXPECT_FALSE(attribute.doc.empty()) << attribute.name;
    EXPECT_TRUE(names.insert(attribute.name).second) << attribute.name;
  }
  EXPECT_LT(op().in_place_input, static_cast<int>(op().inputs.size()));
  EXPECT_FALSE(op().alias_columns && op().lower);
}

TEST_P(RecordTest, ShapeRuleGivesWhatTheReferenceFills) {
  for (const OpCase& test : op().cases()) {
    SCOPED_TRACE(test.name);
    const auto types = Infer(test);
    ASSERT_TRUE(types.ok()) << types.status().message();
    ASSERT_EQ(types->size(), op().outputs.size());
    const CaseData data = DrawCase(op(), test, 1);
    const Results results = RunReference(data);
    for (size_t i = 0; i < types->size(); ++i) {
      if ((*types)[i].kind != Kind::kTensor) continue;
      EXPECT_EQ(results.tensors[i].shape, ConcreteShape((*types)[i]).value());
      EXPECT_EQ(static_cast<int64_t>(results.tensors[i].data.size()),
                results.tensors[i].shape.elements());
    }
  }
}

// Rows of the step: indices have one for each.
int64_t SymbolicRows(const CaseData& data) {
  for (const ValueType& type : data.test.inputs)
    if (type.dtype == DType::kI32) return *type.shape[0].constant();
  return StepRows(data);
}

// Puts symbols for the step's tokens and sequences into operand types.
OpCase Symbolic(const OpCase& test, const OpRecord& op, const Dim& rows) {
  OpCase out = test;
  for (size_t i = 0; i < out.inputs.size(); ++i) {
    ValueType& type = out.inputs[i];
    if (!out.present[i] || type.shape.empty()) continue;
    if (type.kind == Kind::kLayout) type.shape = {Dim::Symbol("tokens"), Dim::Symbol("sequences")};
    const bool of_step = type.shape.size() == 2 || type.dtype == DType::kI32;
    if (type.kind == Kind::kTensor && op.inputs[i].form != ConstantForm::kPanels && of_step &&
        type.shape[0] == rows)
      type.shape[0] = Dim::Symbol("tokens");
  }
  return out;
}

TEST_P(RecordTest, SymbolicShapesEvaluateToConcreteOnes) {
  for (const OpCase& test : op().cases()) {
    SCOPED_TRACE(test.name);
    const auto concrete = Infer(test);
    ASSERT_TRUE(concrete.ok()) << concrete.status().message();
    const CaseData data = DrawCase(op(), test, 1);
    const OpCase symbolic_case = Symbolic(test, op(), Dim(SymbolicRows(data)));
    const auto symbolic = Infer(symbolic_case);
    ASSERT_TRUE(symbolic.ok()) << symbolic.status().message();
    const SymbolValues values = {{"tokens", SymbolicRows(data)},
                                 {"sequences", static_cast<int64_t>(test.lengths.size())}};
    for (size_t i = 0; i < concrete->size(); ++i)
      for (size_t d = 0; d < (*concrete)[i].shape.size(); ++d)
        EXPECT_EQ((*symbolic)[i].shape[d].Evaluate(values).value(),
                  *(*concrete)[i].shape[d].constant());
  }
}

TEST_P(RecordTest, CostIsPositiveAndCountsFormats) {
  for (const OpCase& test : op().cases()) {
    const CaseData data = DrawCase(op(), test, 1);
    std::vector<TensorView> inputs, outputs;
    for (size_t i = 0; i < test.inputs.size(); ++i)
      inputs.push_back(data.present[i] ? TensorView{nullptr, test.inputs[i].dtype,
                                                    ConcreteShape(test.inputs[i]).value()}
                                       : TensorView());
    for (const ValueType& type : data.outputs)
      outputs.push_back({nullptr, type.dtype, ConcreteShape(type).value()});
    const Cost cost = op().cost(inputs, outputs, test.attributes);
    EXPECT_GE(cost.flops, 0);
    EXPECT_EQ(cost.bytes > 0, !op().alias_columns) << test.name;
  }
}

TEST_P(RecordTest, AliasIsAViewOfItsInput) {
  if (!op().alias_columns) return;
  for (const OpCase& test : op().cases()) {
    const CaseData data = DrawCase(op(), test, 1);
    const RefTensor expected = RunReference(data).tensors[0];
    const int64_t first = op().alias_columns(test.attributes);
    for (int64_t r = 0; r < expected.rows(); ++r)
      for (int64_t c = 0; c < expected.columns(); ++c)
        ASSERT_EQ(data.tensors[0].row(r)[first + c], expected.row(r)[c]);
  }
}

Graph GraphOf(const OpRecord& op, const OpCase& test) {
  Graph graph;
  std::vector<ValueId> inputs;
  for (size_t i = 0; i < test.inputs.size(); ++i)
    inputs.push_back(
        test.present[i] ? graph.AddInput(std::string(op.inputs[i].name), test.inputs[i]) : kNone);
  const auto node = graph.AddNode(op, "node", inputs, test.attributes);
  EXPECT_TRUE(node.ok()) << node.status().message();
  if (node.ok()) graph.MarkOutput("out", graph.node(*node).outputs[0]);
  return graph;
}

TEST_P(RecordTest, TextFormParsesBack) {
  for (const OpCase& test : op().cases()) {
    const Graph graph = GraphOf(op(), test);
    ASSERT_TRUE(Verify(graph).ok()) << Verify(graph).message();
    const std::string text = ToText(graph);
    const auto parsed = ParseGraph(text, BuiltinOps());
    ASSERT_TRUE(parsed.ok()) << parsed.status().message() << "\n" << text;
    EXPECT_EQ(ToText(*parsed), text);
    EXPECT_EQ(parsed->nodes()[0].attributes, test.attributes);
  }
}

TEST_P(RecordTest, DefaultsAreAcceptedAndUnknownOrMistypedAttributesAreNot) {
  const OpCase test = op().cases()[0];
  for (const AttributeSpec& spec : op().attributes) {
    OpCase changed = test;
    if (!test.attributes.Find(spec.name)) {
      changed.attributes.Set(spec.name, spec.default_value);
      EXPECT_TRUE(Infer(changed).ok()) << spec.name;
    }
    changed.attributes.Set(spec.name, std::vector<int64_t>{1, 2});
    EXPECT_FALSE(Infer(changed).ok()) << spec.name;
    if (!spec.choices.empty()) {
      changed.attributes.Set(spec.name, std::string("no such choice"));
      EXPECT_FALSE(Infer(changed).ok()) << spec.name;
    }
  }
  OpCase changed = test;
  changed.attributes.Set("no such attribute", int64_t{1});
  EXPECT_FALSE(Infer(changed).ok());
}

TEST_P(RecordTest, MissingAndForeignOperandsAreRefused) {
  const OpCase test = op().cases()[0];
  for (size_t i = 0; i < test.inputs.size(); ++i) {
    if (!test.present[i]) continue;
    OpCase changed = test;
    changed.present[i] = false;
    EXPECT_TRUE(op().inputs[i].optional || !Infer(changed).ok()) << op().inputs[i].name;
    changed = test;
    changed.inputs[i].kind = test.inputs[i].kind == Kind::kLayout ? Kind::kKvCache : Kind::kLayout;
    EXPECT_FALSE(Infer(changed).ok()) << op().inputs[i].name;
    changed = test;
    changed.inputs[i].shape.push_back(1);
    EXPECT_FALSE(Infer(changed).ok()) << op().inputs[i].name;
  }
  OpCase changed = test;
  changed.inputs.push_back({});
  changed.present.push_back(true);
  EXPECT_FALSE(Infer(changed).ok());
}

Dim AnyDim(std::mt19937& random) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  const Dim dims[] = {
      0, 1, -1, 3, 16, kMost, -kMost, Dim::Symbol("tokens"), Dim::Symbol("n") * Dim(2) + Dim(1)};
  return dims[random() % std::size(dims)];
}

AttributeValue AnyAttribute(std::mt19937& random) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  const AttributeValue values[] = {true,
                                   int64_t{0},
                                   int64_t{-1},
                                   int64_t{3},
                                   int64_t{1} << 40,
                                   kMost,
                                   0.0,
                                   -1.5,
                                   1e300,
                                   std::nan(""),
                                   INFINITY,
                                   std::string("rms"),
                                   std::string(),
                                   std::vector<int64_t>{},
                                   std::vector<double>{1}};
  return values[random() % std::size(values)];
}

void Mutate(const OpRecord& op, OpCase& test, std::mt19937& random) {
  const size_t i = random() % test.inputs.size();
  ValueType& type = test.inputs[i];
  switch (random() % 6) {
    case 0:
      type.dtype = AllDTypes()[random() % AllDTypes().size()].dtype;
      break;
    case 1:
      type.kind = static_cast<Kind>(random() % 3);
      break;
    case 2:
      type.shape.resize(random() % 4, AnyDim(random));
      break;
    case 3:
      test.present[i] = !test.present[i];
      break;
    case 4:
      if (!op.attributes.empty())
        test.attributes.Set(op.attributes[random() % op.attributes.size()].name,
                            AnyAttribute(random));
      break;
    default:
      if (!type.shape.empty()) type.shape[random() % type.shape.size()] = AnyDim(random);
  }
}

// Whether no dimension of a present operand is negative, and only a number of rows is 0.
bool IsWellFormed(const OpCase& test) {
  for (size_t i = 0; i < test.inputs.size(); ++i)
    for (size_t d = 0; d < test.inputs[i].shape.size() && test.present[i]; ++d) {
      const int64_t least = d == 0 && test.inputs[i].shape.size() > 1 ? 0 : 1;
      if (test.inputs[i].shape[d].constant().value_or(1) < least) return false;
    }
  return true;
}

// Whatever the types and attributes: a status, or types of every output.
TEST_P(RecordTest, HostileTypesAndAttributesGiveAStatus) {
  std::mt19937 random(11);
  int refused = 0;
  for (const OpCase& test : op().cases())
    for (int round = 0; round < 300; ++round) {
      OpCase changed = test;
      for (size_t n = 1 + random() % 3; n > 0; --n) Mutate(op(), changed, random);
      const auto types = Infer(changed);
      if (types.ok()) {
        ASSERT_EQ(types->size(), op().outputs.size());
        ASSERT_TRUE(IsWellFormed(changed));
      } else {
        ++refused;
        ASSERT_NE(types.status().code(), StatusCode::kInternal);
        ASSERT_NE(types.status().message().find(op().name), std::string::npos);
      }
    }
  EXPECT_GT(refused, 0);
}

INSTANTIATE_TEST_SUITE_P(Ops, RecordTest, testing::ValuesIn(BuiltinOps().records), OpTestName);

}  // namespace
}  // namespace tboost
