#include "src/passes/pipeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

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

// Constants of random values: "name:4" is a vector, "name:4x8" a matrix.
std::string Constants(const std::string& list) {
  std::istringstream words(list);
  std::string out;
  int offset = 0;
  for (std::string word; words >> word; offset = (offset + 4 * 1031) % 60000) {
    const size_t colon = word.find(':'), cross = word.find('x', colon);
    const std::string rows = cross == word.npos ? "1" : word.substr(colon + 1, cross - colon - 1);
    const std::string columns = word.substr((cross == word.npos ? colon : cross) + 1);
    const std::string shape = cross == word.npos ? columns : rows + ", " + columns;
    out += "const %" + word.substr(0, colon) + " : f32[" + shape + "] = file(0, " +
           std::to_string(offset) + ", f32[" + rows + ", " + columns + "])\n";
  }
  return out;
}

// One layer after the embeddings, as an importer writes it: some biases apart, 2 heads of 16.
std::string BertText() {
  return Constants(
             "word:50x32 position:40x32 type:2x32 qw:32x32 kw:32x32 vw:32x32 ow:32x32 iw:64x32 "
             "dw:32x64 qb:32 kb:32 vb:32 ob:32 ib:64 db:32 g0:32 b0:32 g1:32 b1:32 g2:32 b2:32") +
         R"(input %ids : i32[tokens]
input %types : i32[tokens]
input %layout : layout[tokens, sequences]
%places : i32[tokens] = positions(%layout)
%e0 : f32[tokens, 32] = embedding(%word, %ids)
%e1 : f32[tokens, 32] = embedding(%position, %places)
%e2 : f32[tokens, 32] = embedding(%type, %types)
%e3 : f32[tokens, 32] = add(%e0, %e1)
%e4 : f32[tokens, 32] = add(%e3, %e2)
%h0 : f32[tokens, 32] = layer_norm(%e4, %g0, %b0) {eps=1e-12}
%q0 : f32[tokens, 32] = linear(%h0, %qw, _)
%q : f32[tokens, 32] = add(%q0, %qb)
%k0 : f32[tokens, 32] = linear(%h0, %kw, _)
%k : f32[tokens, 32] = add(%k0, %kb)
%v0 : f32[tokens, 32] = linear(%h0, %vw, _)
%v : f32[tokens, 32] = add(%v0, %vb)
%a : f32[tokens, 32] = attention(%q, %k, %v, %layout) {head_dim=16, heads=2, kv_heads=2, scale=0.25}
%o : f32[tokens, 32] = linear(%a, %ow, %ob)
%s1 : f32[tokens, 32] = add(%o, %h0)
%h1 : f32[tokens, 32] = layer_norm(%s1, %g1, %b1) {eps=1e-12}
%i : f32[tokens, 64] = linear(%h1, %iw, %ib)
%f : f32[tokens, 64] = activation(%i) {kind="gelu_erf"}
%d : f32[tokens, 32] = linear(%f, %dw, %db)
%s2 : f32[tokens, 32] = add(%d, %h1)
%h2 : f32[tokens, 32] = layer_norm(%s2, %g2, %b2) {eps=1e-12}
output hidden = %h2
)";
}

// One layer and the head of a decoder with grouped heads.
std::string LlamaText() {
  return Constants(
             "embed:50x32 qw:32x32 kw:16x32 vw:16x32 ow:32x32 gw:64x32 uw:64x32 dw:32x64 g0:32 "
             "g1:32 g2:32") +
         R"(input %ids : i32[tokens]
input %layout : layout[tokens, sequences]
input %rows : i32[outputs]
input %cache : kv_cache[2, 8]
%angles : f32[tokens, 8] = rope_angles(%layout, _) {rotary_dim=8}
%h0 : f32[tokens, 32] = embedding(%embed, %ids)
%n0 : f32[tokens, 32] = rms_norm(%h0, %g0) {eps=1e-05}
%q : f32[tokens, 32] = linear(%n0, %qw, _)
%k : f32[tokens, 16] = linear(%n0, %kw, _)
%v : f32[tokens, 16] = linear(%n0, %vw, _)
%qr : f32[tokens, 32] = rope(%q, %angles) {head_dim=8, heads=4}
%kr : f32[tokens, 16] = rope(%k, %angles) {head_dim=8, heads=2}
%c : kv_cache[2, 8] = kv_write(%kr, %v, %layout, %cache)
%a : f32[tokens, 32] = paged_attention(%qr, %c, %layout) {causal=true, head_dim=8, heads=4, kv_heads=2, scale=0.35}
%o : f32[tokens, 32] = linear(%a, %ow, _)
%h1 : f32[tokens, 32] = add(%h0, %o)
%n1 : f32[tokens, 32] = rms_norm(%h1, %g1) {eps=1e-05}
%g : f32[tokens, 64] = linear(%n1, %gw, _)
%ga : f32[tokens, 64] = activation(%g) {kind="silu"}
%u : f32[tokens, 64] = linear(%n1, %uw, _)
%m : f32[tokens, 64] = mul(%ga, %u)
%d : f32[tokens, 32] = linear(%m, %dw, _)
%h2 : f32[tokens, 32] = add(%h1, %d)
%l : f32[outputs, 32] = select_rows(%h2, %rows)
%n2 : f32[outputs, 32] = rms_norm(%l, %g2) {eps=1e-05}
%logits : f32[outputs, 50] = linear(%n2, %embed, _)
output logits = %logits
output cache = %c
)";
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
