#include "src/graph/graph.h"

#include <gtest/gtest.h>

#include "src/graph/recipe_builders.h"
#include "src/graph/toy_ops.h"

namespace tboost {
namespace {

const ValueType kRow{ValueType::Kind::kTensor, DType::kF32, {Dim::Symbol("tokens"), 4}};

struct GraphTest : testing::Test {
  Graph g;
  ValueId x = g.AddInput("x", kRow);
  ValueId Scale(ValueId in, std::string name = "s") {
    return *g.Add(toy::kScale, std::move(name), {in, kNone});
  }
};

TEST_F(GraphTest, AddNodeChecksOperands) {
  EXPECT_EQ(g.AddNode(toy::kAdd, "sum", {x}, {}).status().message(),
            "[add] sum: 1 operands, expected 2");
  EXPECT_EQ(g.AddNode(toy::kAdd, "sum", {x, kNone}, {}).status().message(),
            "[add] sum: operand y is missing");
  const ValueId layout = g.AddInput("l", {ValueType::Kind::kLayout, DType::kF32, {1, 1}});
  EXPECT_FALSE(g.AddNode(toy::kAdd, "sum", {x, layout}, {}).ok());
  Attributes odd;
  odd.Set("odd", true);
  EXPECT_FALSE(g.AddNode(toy::kScale, "s", {x, kNone}, odd).ok());
  EXPECT_TRUE(g.nodes().empty());
  EXPECT_EQ(g.UseCount(x), 0);
}

TEST_F(GraphTest, NamesAreUnique) {
  const ValueId a = Scale(x, "x"), b = Scale(x, "x"), c = Scale(x, "x.2");
  EXPECT_EQ(g.value(a).name, "x.2");
  EXPECT_EQ(g.value(b).name, "x.3");
  EXPECT_EQ(g.value(c).name, "x.2.2");
  EXPECT_EQ(g.FindValue("x.3"), b);
  EXPECT_FALSE(g.Rename(a, "x").ok());
  EXPECT_TRUE(g.Rename(a, "y").ok());
  EXPECT_EQ(g.FindValue("x.2"), kNone);
  EXPECT_EQ(g.node(g.value(a).producer).name, "y");
  EXPECT_TRUE(Verify(g).ok());
}

TEST_F(GraphTest, UsersFollowChanges) {
  const ValueId a = Scale(x), b = *g.Add(toy::kAdd, "b", {a, a});
  g.MarkOutput("out", a);
  EXPECT_EQ(g.Users(a).size(), 2u);
  EXPECT_EQ(g.UseCount(a), 3);
  EXPECT_TRUE(g.IsOutput(a));
  const ValueId c = Scale(x);
  g.ReplaceUses(a, c);
  EXPECT_EQ(g.UseCount(a), 0);
  EXPECT_EQ(g.UseCount(c), 3);
  EXPECT_EQ(g.node(g.value(b).producer).inputs, (std::vector<ValueId>{c, c}));
  EXPECT_EQ(g.outputs()[0].second, c);
  g.RemoveNode(g.value(b).producer);
  EXPECT_EQ(g.UseCount(c), 1);
}

TEST_F(GraphTest, RewriteKeepsValues) {
  g.SetProvenance("layer");
  const ValueId a = Scale(x, "a");
  const NodeId node = g.value(a).producer;
  ASSERT_TRUE(g.Rewrite(node, toy::kTwo, {x}, {}).ok());
  EXPECT_EQ(g.node(node).outputs.size(), 2u);
  EXPECT_EQ(g.node(node).outputs[0], a);
  EXPECT_EQ(g.value(g.node(node).outputs[1]).name, "a.1");
  EXPECT_EQ(g.node(node).provenance, "layer");
  EXPECT_EQ(g.Users(x).size(), 1u);
  EXPECT_FALSE(g.Rewrite(node, toy::kScale, {x, kNone}, {}).ok());  // would lose an output
  EXPECT_EQ(g.node(node).op, &toy::kTwo);
  EXPECT_TRUE(Verify(g).ok());
}

TEST_F(GraphTest, CompactOrdersAndDrops) {
  const ValueId a = Scale(x, "a"), b = Scale(a, "b"), late = Scale(x, "late");
  g.AddConstant("unused", kRow, *InlineRecipe(1, 4, {1, 2, 3, 4}));
  g.MarkOutput("out", b);
  ASSERT_TRUE(g.Rewrite(g.value(b).producer, toy::kAdd, {late, late}, {}).ok());
  EXPECT_FALSE(Verify(g).ok());  // b stands before late
  g.RemoveNode(g.value(a).producer);
  ASSERT_TRUE(g.Compact().ok());
  EXPECT_EQ(ToText(g),
            "input %x : f32[tokens, 4]\n"
            "%late : f32[tokens, 4] = scale(%x, _)\n"
            "%b : f32[tokens, 4] = add(%late, %late)\n"
            "output out = %b\n");
  EXPECT_TRUE(Verify(g).ok());
}

TEST_F(GraphTest, CompactKeepsOrder) {
  for (int i = 0; i < 20; ++i) Scale(i % 3 ? x : static_cast<ValueId>(i));
  const std::string before = ToText(g);
  ASSERT_TRUE(g.Compact().ok());
  EXPECT_EQ(ToText(g), before);
}

TEST_F(GraphTest, CompactFindsCyclesAndDanglingUses) {
  const ValueId a = Scale(x, "a"), b = Scale(a, "b");
  g.MarkOutput("out", b);
  const NodeId first = g.value(a).producer;
  ASSERT_TRUE(g.Rewrite(first, toy::kScale, {b, kNone}, {}).ok());
  EXPECT_EQ(g.Compact().code(), StatusCode::kInternal);
  ASSERT_TRUE(g.Rewrite(first, toy::kScale, {x, kNone}, {}).ok());
  Graph copy = g;
  copy.RemoveNode(first);
  EXPECT_EQ(copy.Compact().message(), "value a is used, but the node that made it was removed");
  EXPECT_TRUE(g.Compact().ok());
}

TEST_F(GraphTest, CompactTakesDeepGraphs) {
  ValueId value = x;
  for (int i = 0; i < 100000; ++i) value = Scale(value);
  g.MarkOutput("out", value);
  ASSERT_TRUE(g.Compact().ok());
  EXPECT_EQ(g.nodes().size(), 100000u);
}

TEST_F(GraphTest, VerifyChecksConstants) {
  g.MarkOutput("c", g.AddConstant("c", kRow, *InlineRecipe(1, 4, {1, 2, 3, 4})));
  EXPECT_EQ(Verify(g).message(), "constant c has the dimension tokens");
  Graph other;
  const ValueType four{ValueType::Kind::kTensor, DType::kF32, {4}};
  const ValueType five{ValueType::Kind::kTensor, DType::kF32, {5}};
  other.AddConstant("row", four, *InlineRecipe(1, 4, {1, 2, 3, 4}));
  other.AddConstant("column", four, *InlineRecipe(4, 1, {1, 2, 3, 4}));
  EXPECT_TRUE(Verify(other).ok());
  other.AddConstant("long", five, *InlineRecipe(1, 4, {1, 2, 3, 4}));
  EXPECT_EQ(Verify(other).message(), "constant long is f32[5], but its recipe gives f32[1, 4]");
}

TEST_F(GraphTest, VerifyChecksOutputs) {
  g.MarkOutput("out", x);
  EXPECT_TRUE(Verify(g).ok());
  g.MarkOutput("out", x);
  EXPECT_EQ(Verify(g).message(), "two outputs are named out");
}

}  // namespace
}  // namespace tboost
