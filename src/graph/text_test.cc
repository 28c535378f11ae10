#include <gtest/gtest.h>

#include <bit>
#include <random>

#include "src/graph/graph.h"
#include "src/graph/recipe_builders.h"
#include "src/graph/toy_ops.h"

namespace tboost {
namespace {

const ValueType kRow{ValueType::Kind::kTensor, DType::kF32, {Dim::Symbol("tokens"), 4}};

void ExpectReadsBack(const Graph& graph) {
  const std::string text = ToText(graph);
  const auto parsed = ParseGraph(text, toy::Ops());
  ASSERT_TRUE(parsed.ok()) << parsed.status().message() << "\n" << text;
  EXPECT_EQ(ToText(*parsed), text);
  ASSERT_EQ(parsed->nodes().size(), graph.nodes().size());
  for (NodeId i = 0; i < graph.nodes().size(); ++i) {
    EXPECT_EQ(parsed->node(i).attributes, graph.node(i).attributes);
    EXPECT_EQ(parsed->node(i).provenance, graph.node(i).provenance);
    EXPECT_EQ(parsed->node(i).inputs, graph.node(i).inputs);
  }
}

TEST(GraphText, EveryConstruct) {
  Graph g;
  const ValueId x = g.AddInput("weird \"name\"\\\n\xc3\xa9", kRow);
  g.AddInput(
      "layout",
      {ValueType::Kind::kLayout, DType::kF32, {Dim::Symbol("tokens"), Dim::Symbol("sequences")}});
  g.AddInput("cache", {ValueType::Kind::kKvCache, DType::kF32, {3, 64}});
  const RecipePtr file = *FileRecipe(1, 4096, DType::kQ8_0, 32, 64);
  const RecipePtr all =
      *AddScalar(*Cast(*InterleaveRows({*RopeHalves(file, 16), file}), DType::kF32), -0.5);
  g.AddConstant("w", {ValueType::Kind::kTensor, DType::kF32, {128, 64}}, *ConcatRows({all, all}));
  const ValueId c = g.AddConstant("c", {ValueType::Kind::kTensor, DType::kF32, {2}},
                                  *InlineRecipe(1, 2, {1.0f, -0.0f}));
  ToyAttributes toy;
  toy.factor = 1e300;
  toy.count = -7;
  toy.flag = true;
  toy.mode = ToyMode::kFancy;
  toy.note = "a, b} \"c\"";
  toy.ids = {1, 2};
  toy.weights = {1, 0.1};
  g.SetProvenance("model.layers.0");
  const ValueId s = *g.Add(toy::kScale, "s", {x, c}, MakeAttributes(toy));
  const NodeId two = *g.AddNode(toy::kTwo, "two", {s}, {});
  ASSERT_TRUE(g.Rename(g.node(two).outputs[1], "other").ok());
  g.MarkOutput("out put", g.node(two).outputs[1]);
  ExpectReadsBack(g);
  EXPECT_NE(ToText(g).find("%two, %other : f32[tokens, 4], f32[tokens, 4] = two(%s)"
                           " @\"model.layers.0\""),
            std::string::npos)
      << ToText(g);
}

TEST(GraphText, RandomGraphsReadBack) {
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    Graph g;
    std::vector<ValueId> values = {g.AddInput("x", kRow)};
    const auto any = [&] { return values[random() % values.size()]; };
    for (int i = 0; i < 20; ++i) {
      ToyAttributes toy;
      toy.factor = std::bit_cast<float>(static_cast<uint32_t>(random() & 0x7effffff));
      toy.count = static_cast<int64_t>(random());
      if (random() % 2)
        values.push_back(*g.Add(toy::kScale, "n", {any(), kNone}, MakeAttributes(toy)));
      else
        values.push_back(*g.Add(toy::kAdd, "", {any(), any()}));
    }
    g.MarkOutput("out", any());
    ExpectReadsBack(g);
  }
}

TEST(GraphText, ErrorsNameTheLine) {
  const std::pair<const char*, const char*> cases[] = {
      {"input x : f32[4]", "line 1: expected \"%\", found \"x : f32[4]\""},
      {"input %x : f99[4]", "line 1: unknown type \"f99\""},
      {"\ninput %x : f32[4", "line 2: expected a dimension, found \"4\""},
      {"input %x : f32[4]\ninput %x : f32[4]", "line 2: %x is defined twice"},
      {"input %x : f32[4]\n%y : f32[4] = nope(%x)", "line 2: unknown operator \"nope\""},
      {"%y : f32[4] = scale(%x, _)", "line 1: %x is not defined"},
      {"input %x : f32[4]\n%y : f32[5] = scale(%x, _)",
       "line 2: [scale] y is f32[4], found f32[5]"},
      {"input %x : f32[4]\n%y : f32[4] = scale(%x, _) {mode=\"odd\"}",
       "line 2: y: [scale] attribute mode has a wrong type or value"},
      {"input %x : f32[4]\n%y, %z : f32[4] = scale(%x, _)",
       "line 2: [scale] y has 1 outputs, found 2 names and 1 types"},
      {"const %c : f32[4] = file(0, 0, f32[1, 5])",
       "constant c is f32[4], but its recipe gives f32[1, 5]"},
      {"const %c : f32[4] = inline(f32[1, 1], 0)", "line 1: \"0\" is no hexadecimal byte"},
      {"const %c : f32[4] = glue(f32[1, 1])", "line 1: unknown recipe \"glue\""},
      {"input %x : f32[4] %", "line 1: expected the end of the line, found \"%\""},
      {"input %\"x : f32[4]", "line 1: a quoted text has no end"},
      {"input %\"\\q\" : f32[4]", "line 1: expected an escape of a quoted text, found \"\\q\" "},
  };
  for (const auto& [text, message] : cases) {
    const auto parsed = ParseGraph(text, toy::Ops());
    ASSERT_FALSE(parsed.ok()) << text;
    EXPECT_NE(parsed.status().message().find(message), std::string::npos)
        << parsed.status().message();
  }
}

TEST(GraphText, DeepRecipesAreRefused) {
  std::string recipe = "file(0, 0, f32[1, 4])";
  for (int i = 0; i < 1000; ++i) recipe = "concat(" + recipe + ")";
  const auto parsed = ParseGraph("const %c : f32[4] = " + recipe, toy::Ops());
  ASSERT_FALSE(parsed.ok());
  EXPECT_NE(parsed.status().message().find("nested deeper"), std::string::npos);
}

// Every prefix and every one-byte change of a good text parses or fails, and what parses reads
// back.
TEST(GraphText, DamagedTextNeverCrashes) {
  const std::string text =
      "input %x : f32[2*tokens+1, 4]\n"
      "const %w : f32[32, 1] = add(cast(rope_halves(interleave(file(0, 8, f16[16, 1]), "
      "file(0, 8, f16[16, 1])), 16), f32), 1.0)\n"
      "const %c : f32[1] = inline(f32[1, 1], 0000803f)\n"
      "%y : f32[2*tokens+1, 4] = scale(%x, %c) {factor=2.5, ids=[1, 2], weights=<0.5>} @\"p\"\n"
      "output y = %y\n";
  ASSERT_TRUE(ParseGraph(text, toy::Ops()).ok()) << ParseGraph(text, toy::Ops()).status().message();
  int accepted = 0;
  const auto check = [&accepted](const std::string& damaged) {
    const auto parsed = ParseGraph(damaged, toy::Ops());
    if (!parsed.ok()) return;
    ++accepted;
    const auto again = ParseGraph(ToText(*parsed), toy::Ops());
    ASSERT_TRUE(again.ok()) << again.status().message();
    EXPECT_EQ(ToText(*again), ToText(*parsed));
  };
  for (size_t i = 0; i < text.size(); ++i) {
    check(text.substr(0, i));
    for (const char c : {' ', '0', '9', ',', '(', ']', '"', '\n', '\xff'}) {
      std::string damaged = text;
      damaged[i] = c;
      check(damaged);
    }
  }
  EXPECT_GT(accepted, 10);
}

}  // namespace
}  // namespace tboost
