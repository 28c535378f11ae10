#include "src/passes/pipeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "src/graph/op_record.h"
#include "src/passes/pass_testing.h"

namespace tboost {
namespace {

using testing::ElementsAre;

// The operators in order, with the activation or norm of a fused_linear and an r for its residual.
std::vector<std::string> Operators(const Graph& graph) {
  std::vector<std::string> out;
  for (const Node& node : graph.nodes()) {
    std::string text(node.op->name);
    for (const char* attribute : {"norm", "activation"})
      if (const AttributeValue* value = node.attributes.Find(attribute))
        text += " " + std::get<std::string>(*value);
    if (node.op->name == "fused_linear" && node.inputs[5] != kNone) text += " residual";
    out.push_back(text);
  }
  return out;
}

std::string Weight(const std::string& name, int n, int k) {
  static int offset = 0;
  offset = (offset + 4 * 1031) % 60000;
  const std::string matrix = "f32[" + std::to_string(n) + ", " + std::to_string(k) + "]";
  return "const %" + name + " : " + matrix + " = file(0, " + std::to_string(offset / 4 * 4) + ", " +
         matrix + ")\n";
}
std::string Row(const std::string& name, int n) {
  static int offset = 0;
  offset = (offset + 4 * 517) % 60000;
  const std::string width = std::to_string(n);
  return "const %" + name + " : f32[" + width + "] = file(0, " + std::to_string(offset / 4 * 4) +
         ", f32[1, " + width + "])\n";
}

// One layer after the embeddings, as an importer writes it: biases apart, 2 heads of 16.
std::string BertText() {
  const std::string t = " : f32[tokens, 32] = ";
  return "input %ids : i32[tokens]\n"
         "input %types : i32[tokens]\n"
         "input %layout : layout[tokens, sequences]\n" +
         Weight("word", 50, 32) + Weight("position", 40, 32) + Weight("type", 2, 32) +
         Weight("qw", 32, 32) + Weight("kw", 32, 32) + Weight("vw", 32, 32) + Weight("ow", 32, 32) +
         Weight("iw", 64, 32) + Weight("dw", 32, 64) + Row("qb", 32) + Row("kb", 32) +
         Row("vb", 32) + Row("ob", 32) + Row("ib", 64) + Row("db", 32) + Row("g0", 32) +
         Row("b0", 32) + Row("g1", 32) + Row("b1", 32) + Row("g2", 32) + Row("b2", 32) +
         "%places : i32[tokens] = positions(%layout)\n"
         "%e0" +
         t +
         "embedding(%word, %ids)\n"
         "%e1" +
         t +
         "embedding(%position, %places)\n"
         "%e2" +
         t +
         "embedding(%type, %types)\n"
         "%e3" +
         t +
         "add(%e0, %e1)\n"
         "%e4" +
         t +
         "add(%e3, %e2)\n"
         "%h0" +
         t +
         "layer_norm(%e4, %g0, %b0) {eps=1e-12}\n"
         "%q0" +
         t +
         "linear(%h0, %qw, _)\n"
         "%q" +
         t +
         "add(%q0, %qb)\n"
         "%k0" +
         t +
         "linear(%h0, %kw, _)\n"
         "%k" +
         t +
         "add(%k0, %kb)\n"
         "%v0" +
         t +
         "linear(%h0, %vw, _)\n"
         "%v" +
         t +
         "add(%v0, %vb)\n"
         "%a" +
         t +
         "attention(%q, %k, %v, %layout) {head_dim=16, heads=2, kv_heads=2, scale=0.25}\n"
         "%o" +
         t +
         "linear(%a, %ow, %ob)\n"
         "%s1" +
         t +
         "add(%o, %h0)\n"
         "%h1" +
         t +
         "layer_norm(%s1, %g1, %b1) {eps=1e-12}\n"
         "%i : f32[tokens, 64] = linear(%h1, %iw, %ib)\n"
         "%f : f32[tokens, 64] = activation(%i) {kind=\"gelu_erf\"}\n"
         "%d" +
         t +
         "linear(%f, %dw, %db)\n"
         "%s2" +
         t +
         "add(%d, %h1)\n"
         "%h2" +
         t +
         "layer_norm(%s2, %g2, %b2) {eps=1e-12}\n"
         "output hidden = %h2\n";
}

// One layer and the head of a decoder with grouped heads.
std::string LlamaText() {
  const std::string t = " : f32[tokens, 32] = ";
  return "input %ids : i32[tokens]\n"
         "input %layout : layout[tokens, sequences]\n"
         "input %rows : i32[outputs]\n"
         "input %cache : kv_cache[2, 8]\n" +
         Weight("embed", 50, 32) + Weight("qw", 32, 32) + Weight("kw", 16, 32) +
         Weight("vw", 16, 32) + Weight("ow", 32, 32) + Weight("gw", 64, 32) + Weight("uw", 64, 32) +
         Weight("dw", 32, 64) + Row("g0", 32) + Row("g1", 32) + Row("g2", 32) +
         "%angles : f32[tokens, 8] = rope_angles(%layout) {rotary_dim=8}\n"
         "%h0" +
         t +
         "embedding(%embed, %ids)\n"
         "%n0" +
         t +
         "rms_norm(%h0, %g0) {eps=1e-05}\n"
         "%q" +
         t +
         "linear(%n0, %qw, _)\n"
         "%k : f32[tokens, 16] = linear(%n0, %kw, _)\n"
         "%v : f32[tokens, 16] = linear(%n0, %vw, _)\n"
         "%qr" +
         t +
         "rope(%q, %angles) {head_dim=8, heads=4}\n"
         "%kr : f32[tokens, 16] = rope(%k, %angles) {head_dim=8, heads=2}\n"
         "%c : kv_cache[2, 8] = kv_write(%kr, %v, %layout, %cache)\n"
         "%a" +
         t +
         "paged_attention(%qr, %c, %layout) "
         "{causal=true, head_dim=8, heads=4, kv_heads=2, scale=0.35}\n"
         "%o" +
         t +
         "linear(%a, %ow, _)\n"
         "%h1" +
         t +
         "add(%h0, %o)\n"
         "%n1" +
         t +
         "rms_norm(%h1, %g1) {eps=1e-05}\n"
         "%g : f32[tokens, 64] = linear(%n1, %gw, _)\n"
         "%ga : f32[tokens, 64] = activation(%g) {kind=\"silu\"}\n"
         "%u : f32[tokens, 64] = linear(%n1, %uw, _)\n"
         "%m : f32[tokens, 64] = mul(%ga, %u)\n"
         "%d" +
         t +
         "linear(%m, %dw, _)\n"
         "%h2" +
         t +
         "add(%h1, %d)\n"
         "%l : f32[outputs, 32] = select_rows(%h2, %rows)\n"
         "%n2 : f32[outputs, 32] = rms_norm(%l, %g2) {eps=1e-05}\n"
         "%logits : f32[outputs, 50] = linear(%n2, %embed, _)\n"
         "output logits = %logits\n"
         "output cache = %c\n";
}

TEST(Pipeline, BertLayer) {
  const Graph before = GraphFromText(BertText());
  Graph graph = before;
  const auto report = Optimize(graph);
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_THAT(Operators(graph),
              ElementsAre("positions", "embedding", "embedding", "embedding", "add", "add_norm",
                          "linear", "columns", "columns", "columns", "attention", "linear",
                          "add_norm", "fused_linear gelu_erf", "linear", "add_norm"))
      << ToText(graph);
  ExpectSameResults(before, graph);
}

TEST(Pipeline, LlamaLayer) {
  const Graph before = GraphFromText(LlamaText());
  Graph graph = before;
  const auto report = Optimize(graph);
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_THAT(
      Operators(graph),
      ElementsAre("rope_angles", "embedding", "fused_linear rms", "columns", "columns", "columns",
                  "rope_kv", "paged_attention", "fused_linear residual", "fused_linear rms silu",
                  "fused_linear residual", "select_rows", "fused_linear rms"))
      << ToText(graph);
  ExpectSameResults(before, graph);
}

TEST(Pipeline, EveryLevelComputesTheSame) {
  for (const std::string& text : {BertText(), LlamaText()}) {
    const Graph before = GraphFromText(text);
    size_t runs = 0;
    for (int level = 0; level <= 3; ++level) {
      Graph graph = before;
      const auto report = Optimize(graph, {.level = level, .disabled = {}, .dump = {}});
      ASSERT_TRUE(report.ok()) << report.status().message();
      EXPECT_GE(report->runs.size(), runs);
      runs = report->runs.size();
      ExpectSameResults(before, graph);
    }
    EXPECT_EQ(runs, AllPasses().size());
  }
}

TEST(Pipeline, EachPassCanBeOff) {
  const Graph before = GraphFromText(LlamaText());
  for (const Pass* off : AllPasses()) {
    Graph graph = before;
    std::vector<std::string> ran;
    OptimizeOptions options;
    options.disabled = {std::string(off->name)};
    options.dump = [&](std::string_view pass, const Graph& left) {
      ran.emplace_back(pass);
      EXPECT_TRUE(Verify(left).ok());
    };
    ASSERT_TRUE(Optimize(graph, options).ok());
    EXPECT_EQ(ran.size(), AllPasses().size() - 1);
    EXPECT_EQ(std::count(ran.begin(), ran.end(), off->name), 0);
    ExpectSameResults(before, graph);
  }
}

TEST(Pipeline, RunningAgainChangesNothing) {
  Graph graph = GraphFromText(LlamaText());
  ASSERT_TRUE(Optimize(graph).ok());
  const std::string once = ToText(graph);
  ASSERT_TRUE(Optimize(graph).ok());
  EXPECT_EQ(ToText(graph), once);
}

TEST(Pipeline, BadOptions) {
  Graph graph = GraphFromText(LlamaText());
  EXPECT_EQ(Optimize(graph, {.level = 4, .disabled = {}, .dump = {}}).status().message(),
            "optimisation level 4, expected 0 to 3");
  const auto unknown = Optimize(graph, {.level = 1, .disabled = {"fuse_all"}, .dump = {}});
  EXPECT_THAT(unknown.status().message(),
              testing::StartsWith("no pass is named fuse_all; there are: dead_code "));
}

TEST(Pipeline, PassesAreDescribed) {
  std::vector<std::string_view> names;
  for (const Pass* pass : AllPasses()) {
    EXPECT_FALSE(pass->doc.empty());
    EXPECT_EQ(std::count(names.begin(), names.end(), pass->name), 0);
    names.push_back(pass->name);
  }
}

}  // namespace
}  // namespace tboost
