// Every gradient, as the graph that computes it, against finite differences of the reference.
#include <gtest/gtest.h>

#include <cmath>

#include "src/ops/interpreter.h"
#include "src/ops/ops_testing.h"

namespace tboost {
namespace {

constexpr double kStep = 1e-5;
constexpr double kTolerance = 1e-6;  // relative to the largest gradient of the operand
constexpr int kElementsTried = 40;   // of each operand

std::vector<const OpRecord*> DifferentiableOps() {
  std::vector<const OpRecord*> out;
  for (const OpRecord* op : BuiltinOps().records)
    if (op->gradient) out.push_back(op);
  return out;
}

// A graph of one node and the nodes of its gradients; operands are inputs named as in the record.
struct GradientGraph {
  Graph graph;
  std::vector<ValueId> gradients;  // of the operands, kNone where there is none
};

Result<GradientGraph> BuildGradient(const CaseData& data) {
  GradientGraph out;
  std::vector<ValueId> inputs;
  for (size_t i = 0; i < data.tensors.size(); ++i)
    inputs.push_back(data.present[i] ? out.graph.AddInput(std::string(data.op->inputs[i].name),
                                                          data.test.inputs[i])
                                     : kNone);
  TBOOST_ASSIGN_OR_RETURN(const NodeId node,
                          out.graph.AddNode(*data.op, "node", inputs, data.test.attributes));
  const std::vector<ValueId> outputs = out.graph.node(node).outputs;
  const std::vector<ValueId> upstream = {out.graph.AddInput("upstream", data.outputs[0])};
  const GradientContext context = {&out.graph, inputs, outputs, upstream, &data.test.attributes,
                                   "gradient"};
  TBOOST_ASSIGN_OR_RETURN(out.gradients, data.op->gradient(context));
  TBOOST_RETURN_IF_ERROR(Verify(out.graph));
  return out;
}

// sum(upstream * output) as a function of the operands in `data`.
double Loss(const CaseData& data, const RefTensor& upstream) {
  const Results results = RunReference(data);
  double loss = 0;
  for (size_t i = 0; i < upstream.data.size(); ++i)
    loss += upstream.data[i] * results.tensors[0].data[i];
  return loss;
}

void CheckOperand(CaseData& data, size_t operand, const RefTensor& upstream,
                  const RefTensor& gradient) {
  RefTensor& tensor = data.tensors[operand];
  ASSERT_EQ(gradient.shape, tensor.shape);
  double largest = 1e-3;
  for (double g : gradient.data) largest = std::max(largest, std::abs(g));
  std::mt19937 random(3);
  for (int tried = 0; tried < kElementsTried; ++tried) {
    const size_t i = random() % tensor.data.size();
    const double saved = tensor.data[i];
    tensor.data[i] = saved + kStep;
    const double above = Loss(data, upstream);
    tensor.data[i] = saved - kStep;
    const double below = Loss(data, upstream);
    tensor.data[i] = saved;
    ASSERT_NEAR(gradient.data[i], (above - below) / (2 * kStep), kTolerance * largest)
        << "element " << i;
  }
}

void CheckCase(CaseData data) {
  const Result<GradientGraph> built = BuildGradient(data);
  ASSERT_TRUE(built.ok()) << built.status().message();
  ASSERT_EQ(built->gradients.size(), data.tensors.size());

  InterpreterInputs inputs;
  if (data.layout) inputs.layout = &data.layout->view;
  for (size_t i = 0; i < data.tensors.size(); ++i)
    if (data.present[i]) inputs.tensors[std::string(data.op->inputs[i].name)] = data.tensors[i];
  RefTensor& upstream = inputs.tensors["upstream"];
  upstream = RunReference(data).tensors[0];
  std::mt19937 random(2);
  std::normal_distribution<double> normal;
  for (double& x : upstream.data) x = normal(random);

  std::vector<ValueId> wanted;
  std::vector<size_t> operands;
  for (size_t i = 0; i < data.tensors.size(); ++i) {
    if (built->gradients[i] == kNone) continue;
    wanted.push_back(built->gradients[i]);
    operands.push_back(i);
  }
  ASSERT_FALSE(wanted.empty());
  const auto gradients = Interpret(built->graph, inputs, wanted);
  ASSERT_TRUE(gradients.ok()) << gradients.status().message();
  for (size_t i = 0; i < wanted.size(); ++i) {
    SCOPED_TRACE(data.op->inputs[operands[i]].name);
    ASSERT_NO_FATAL_FAILURE(CheckOperand(data, operands[i], upstream, (*gradients)[i]));
  }
}

// Quantised operands have no gradient; outliers leave a difference no digits; large cases add time.
bool IsTried(const OpCase& test) {
  int64_t elements = 0;
  for (size_t i = 0; i < test.inputs.size(); ++i) {
    if (!test.present[i] || test.inputs[i].kind != ValueType::Kind::kTensor) continue;
    if (Info(test.inputs[i].dtype).quantised()) return false;
    elements += ConcreteShape(test.inputs[i]).value().elements();
  }
  return !test.outliers && elements < 4000;
}

class GradientTest : public testing::TestWithParam<const OpRecord*> {};

TEST_P(GradientTest, EqualsFiniteDifferences) {
  int tried = 0;
  for (const OpCase& test : GetParam()->cases()) {
    if (!IsTried(test)) continue;
    ++tried;
    SCOPED_TRACE(test.name);
    ASSERT_NO_FATAL_FAILURE(CheckCase(DrawCase(*GetParam(), test, tried)));
  }
  EXPECT_GE(tried, 2) << "too few cases are small enough";
}

INSTANTIATE_TEST_SUITE_P(Ops, GradientTest, testing::ValuesIn(DifferentiableOps()), OpTestName);

}  // namespace
}  // namespace tboost
