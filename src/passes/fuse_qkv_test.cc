#include <gtest/gtest.h>

#include "src/passes/pass_testing.h"

namespace tboost {
namespace {

std::string Layer(const std::string& k_format, const std::string& k_input,
                  const std::string& q_bias) {
  return "input %x : f32[tokens, 32]\n"
         "input %y : f32[tokens, 32]\n"
         "input %layout : layout[tokens, sequences]\n"
         "const %q.w : f32[16, 32] = file(0, 0, f32[16, 32])\n"
         "const %k.w : " +
         k_format + "[8, 32] = file(0, 2048, " + k_format +
         "[8, 32])\n"
         "const %v.w : f32[8, 32] = file(0, 4096, f32[8, 32])\n" +
         (q_bias == "_" ? "" : "const " + q_bias + " : f32[16] = file(0, 8192, f32[1, 16])\n") +
         "%q : f32[tokens, 16] = linear(%x, %q.w, " + q_bias +
         ") @\"attn\"\n"
         "%k : f32[tokens, 8] = linear(" +
         k_input +
         ", %k.w, _) @\"attn\"\n"
         "%v : f32[tokens, 8] = linear(%x, %v.w, _) @\"attn\"\n"
         "%a : f32[tokens, 16] = attention(%q, %k, %v, %layout) {head_dim=4, heads=4, kv_heads=2}\n"
         "output a = %a\n";
}

const std::string kTail =
    "%q : f32[tokens, 16] = columns(%q.joined) {count=16} @\"attn\"\n"
    "%k : f32[tokens, 8] = columns(%q.joined) {begin=16, count=8} @\"attn\"\n"
    "%v : f32[tokens, 8] = columns(%q.joined) {begin=24, count=8} @\"attn\"\n"
    "%a : f32[tokens, 16] = attention(%q, %k, %v, %layout) {head_dim=4, heads=4, kv_heads=2}\n"
    "output a = %a\n";
const std::string kHead =
    "input %x : f32[tokens, 32]\n"
    "input %y : f32[tokens, 32]\n"
    "input %layout : layout[tokens, sequences]\n";
const std::string kWeights =
    "const %q.w.joined : f32[32, 32] = concat(file(0, 0, f32[16, 32]), file(0, 2048, f32[8, 32]), "
    "file(0, 4096, f32[8, 32]))\n";

TEST(FuseQkv, OneProductAndItsColumns) {
  ExpectRewritten(kFuseQkv, Layer("f32", "%x", "_"),
                  kHead + kWeights +
                      "%q.joined : f32[tokens, 32] = linear(%x, %q.w.joined, _) @\"attn\"\n" +
                      kTail);
}

TEST(FuseQkv, MissingBiasesAreZeros) {
  ExpectRewritten(
      kFuseQkv, Layer("f32", "%x", "%q.b"),
      kHead + "const %q.b.joined : f32[32] = concat(file(0, 8192, f32[16, 1]), inline(f32[8, 1], " +
          std::string(64, '0') + "), inline(f32[8, 1], " + std::string(64, '0') + "))\n" +
          kWeights +
          "%q.joined : f32[tokens, 32] = linear(%x, %q.w.joined, %q.b.joined) @\"attn\"\n" + kTail);
}

TEST(FuseQkv, AnotherFormatStaysAlone) {
  Graph graph = GraphFromText(Layer("f16", "%x", "_"));
  const auto report = kFuseQkv.run(graph);
  EXPECT_EQ(report->changes, 1);
  ASSERT_EQ(report->missed.size(), 1u);
  EXPECT_EQ(report->missed[0].node, "k");
  EXPECT_EQ(report->missed[0].reason, "linear: operand 1 is f16, others' of this input are not");
}

TEST(FuseQkv, Kept) {
  std::string two = Layer("f32", "%y", "_");
  two.replace(two.find("linear(%x, %v.w"), 15, "linear(%layer, %v.w");
  two.replace(two.find("input %layout"), 0, "input %layer : f32[tokens, 32]\n");
  ExpectKept(kFuseQkv, two, "");
  ExpectKept(kFuseQkv, Layer("f32", "%y", "_") + "output q = %q\n",
             "linear: its result is a graph output");
}

}  // namespace
}  // namespace tboost
