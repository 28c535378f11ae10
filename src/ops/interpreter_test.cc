#include "src/ops/interpreter.h"

#include <gtest/gtest.h>

#include <cstring>

#include "src/graph/recipe_builders.h"
#include "src/ops/attention.h"
#include "src/ops/ops_testing.h"

namespace tboost {
namespace {

ValueType Type(std::vector<Dim> shape, DType dtype = DType::kF32) {
  return {ValueType::Kind::kTensor, dtype, std::move(shape)};
}

const Dim kTokens = Dim::Symbol("tokens");

// y = x W^T + 1 with W = [[1, 2], [3, 4]], then relu.
struct SmallGraph {
  Graph graph;
  ValueId x, w, linear, sum;
  SmallGraph() {
    x = graph.AddInput("x", Type({kTokens, 2}));
    w = graph.AddConstant("w", Type({2, 2}), InlineRecipe(2, 2, {1, 2, 3, 4}).value());
    const ValueId one = graph.AddConstant("one", Type({2}), InlineRecipe(1, 2, {1, 1}).value());
    linear = graph.Add(ops::Linear(), "linear", {x, w, kNone}).value();
    sum = graph.Add(ops::Add(), "sum", {linear, one}).value();
    graph.MarkOutput("y", sum);
  }
};

TEST(Interpreter, ComputesOutputsAndAnyIntermediateValue) {
  const SmallGraph small;
  InterpreterInputs inputs;
  inputs.tensors["x"] = {{2, 2}, {1, 0, 10, 100}};
  const auto outputs = InterpretOutputs(small.graph, inputs);
  ASSERT_TRUE(outputs.ok()) << outputs.status().message();
  EXPECT_EQ(outputs->at("y").data, (std::vector<double>{2, 4, 211, 431}));
  const std::vector<ValueId> wanted = {small.linear, small.w, small.x, small.linear};
  const auto values = Interpret(small.graph, inputs, wanted);
  ASSERT_TRUE(values.ok()) << values.status().message();
  EXPECT_EQ((*values)[0].data, (std::vector<double>{1, 3, 210, 430}));
  EXPECT_EQ((*values)[1].data, (std::vector<double>{1, 2, 3, 4}));
  EXPECT_EQ((*values)[2].data, inputs.tensors["x"].data);
  EXPECT_EQ((*values)[3].data, (*values)[0].data);
}

TEST(Interpreter, NamesTheInputThatIsMissingOrWrong) {
  const SmallGraph small;
  InterpreterInputs inputs;
  auto failure = [&] { return InterpretOutputs(small.graph, inputs).status().message(); };
  EXPECT_NE(failure().find("input x"), std::string::npos);
  inputs.tensors["x"] = {{2, 2}, {1, 0, 10}};
  EXPECT_NE(failure().find("input x"), std::string::npos);
  inputs.tensors["x"] = {{1, 3}, {1, 0, 10}};
  EXPECT_NE(failure().find("linear"), std::string::npos);
}

TEST(Interpreter, ReadsFileConstantsThroughTheSource) {
  Graph graph;
  const ValueId ids = graph.AddInput("ids", Type({kTokens}, DType::kI32));
  const ValueId table =
      graph.AddConstant("table", Type({3, 2}), FileRecipe(1, 8, DType::kF32, 3, 2).value());
  graph.MarkOutput("rows", graph.Add(ops::Embedding(), "rows", {table, ids}).value());
  std::string file(8 + 6 * 4, '\0');
  const float numbers[] = {0, 1, 10, 11, 20, 21};
  std::memcpy(file.data() + 8, numbers, sizeof(numbers));
  auto source = [&](int number, uint64_t offset, uint64_t bytes) -> Result<std::string_view> {
    EXPECT_EQ(number, 1);
    return std::string_view(file).substr(offset, bytes);
  };
  InterpreterInputs inputs;
  inputs.tensors["ids"] = {{2}, {2, 0}};
  const auto outputs = InterpretOutputs(graph, inputs, source);
  ASSERT_TRUE(outputs.ok()) << outputs.status().message();
  EXPECT_EQ(outputs->at("rows").data, (std::vector<double>{20, 21, 0, 1}));
  EXPECT_FALSE(InterpretOutputs(graph, inputs).ok());
  inputs.tensors["ids"].data[0] = 3;
  EXPECT_EQ(InterpretOutputs(graph, inputs, source).status().code(), StatusCode::kOutOfRange);
}

// Causal attention in one step, and token by token through a cache.
TEST(Interpreter, CacheGrowsStepByStep) {
  const ops::AttentionAttributes attributes = {
      .heads = 2, .kv_heads = 1, .head_dim = 4, .scale = 0.5, .causal = true};
  Graph graph;
  const ValueType layout = {ValueType::Kind::kLayout, DType::kF32, {kTokens, Dim(1)}};
  const ValueId q = graph.AddInput("q", Type({kTokens, 8})),
                k = graph.AddInput("k", Type({kTokens, 4})),
                v = graph.AddInput("v", Type({kTokens, 4})),
                step = graph.AddInput("layout", layout),
                cache = graph.AddInput("cache", {ValueType::Kind::kKvCache, DType::kF32, {1, 4}});
  const ValueId written = graph.Add(ops::KvWrite(), "written", {k, v, step, cache}).value();
  graph.MarkOutput(
      "paged",
      graph.Add(ops::PagedAttention(), "paged", {q, written, step}, MakeAttributes(attributes))
          .value());
  graph.MarkOutput(
      "plain",
      graph.Add(ops::Attention(), "plain", {q, k, v, step}, MakeAttributes(attributes)).value());
  graph.MarkOutput("cache", written);

  std::mt19937 random(1);
  std::normal_distribution<double> normal;
  auto draw = [&](int64_t columns) {
    RefTensor out{{5, columns}, {}};
    for (int64_t i = 0; i < 5 * columns; ++i) out.data.push_back(normal(random));
    return out;
  };
  const std::map<std::string, RefTensor, std::less<>> all = {
      {"q", draw(8)}, {"k", draw(4)}, {"v", draw(4)}};
  RefKvCache state = {1, 4, {{}}, {{}}};
  InterpreterInputs inputs = {all, {{"cache", &state}}, nullptr};
  const auto whole_layout = MakeLayout({5}, {0});
  inputs.layout = &whole_layout->view;
  const auto whole = InterpretOutputs(graph, inputs);
  ASSERT_TRUE(whole.ok()) << whole.status().message();
  ASSERT_EQ(whole->count("cache"), 0u);
  EXPECT_EQ(whole->at("paged").data, whole->at("plain").data);
  EXPECT_EQ(state.keys[0], all.at("k").data);

  state = {1, 4, {{}}, {{}}};
  for (int32_t t = 0; t < 5; ++t) {
    for (const auto& [name, rows] : all)
      inputs.tensors[name] = {{1, rows.columns()}, {rows.row(t), rows.row(t) + rows.columns()}};
    const auto one_layout = MakeLayout({1}, {t});
    inputs.layout = &one_layout->view;
    const auto one = InterpretOutputs(graph, inputs);
    ASSERT_TRUE(one.ok()) << one.status().message();
    const double* expected = whole->at("paged").row(t);
    EXPECT_EQ(one->at("paged").data, std::vector<double>(expected, expected + 8)) << t;
  }
}

}  // namespace
}  // namespace tboost
