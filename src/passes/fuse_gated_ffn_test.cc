#include <gtest/gtest.h>

#include "src/passes/pass_testing.h"

namespace tboost {
namespace {

// A feed-forward of `n` inner columns; `gate` and `up` are the operands of mul in their order.
std::string Ffn(int n, const std::string& up_input, const std::string& product,
                const std::string& bias = "_") {
  const std::string rows = std::to_string(n);
  return "input %x : f32[tokens, 8]\n"
         "input %y : f32[tokens, 8]\n"
         "const %g.w : f32[" +
         rows + ", 8] = file(0, 0, f32[" + rows +
         ", 8])\n"
         "const %u.w : f32[" +
         rows + ", 8] = file(0, 4096, f32[" + rows + ", 8])\n" +
         (bias == "_"
              ? ""
              : "const " + bias + " : f32[" + rows + "] = file(0, 8192, f32[1, " + rows + "])\n") +
         "%g : f32[tokens, " + rows +
         "] = linear(%x, %g.w, _)\n"
         "%a : f32[tokens, " +
         rows +
         "] = activation(%g) {kind=\"silu\"}\n"
         "%u : f32[tokens, " +
         rows + "] = linear(" + up_input + ", %u.w, " + bias +
         ")\n"
         "%m : f32[tokens, " +
         rows + "] = mul(" + product +
         ") @\"mlp\"\n"
         "output m = %m\n";
}

const std::string kFused =
    "input %x : f32[tokens, 8]\n"
    "input %y : f32[tokens, 8]\n"
    "const %g.w.gated : f32[64, 8] = interleave(file(0, 0, f32[32, 8]), file(0, 4096, f32[32, "
    "8]))\n"
    "%m : f32[tokens, 32] = fused_linear(%x, %g.w.gated, _, _, _, _) "
    "{activation=\"silu\", gated=true} @\"mlp\"\n"
    "output m = %m\n";

TEST(FuseGatedFfn, InterleavesWeights) {
  ExpectRewritten(kFuseGatedFfn, Ffn(32, "%x", "%a, %u"), kFused);
  ExpectRewritten(kFuseGatedFfn, Ffn(32, "%x", "%u, %a"), kFused);
}

TEST(FuseGatedFfn, OneBiasIsCompletedWithZeros) {
  Graph graph = GraphFromText(Ffn(16, "%x", "%a, %u", "%u.b"));
  const Graph before = graph;
  ASSERT_EQ(kFuseGatedFfn.run(graph)->changes, 1);
  ASSERT_TRUE(graph.Compact().ok());
  ExpectSameResults(before, graph);
}

TEST(FuseGatedFfn, Kept) {
  ExpectKept(kFuseGatedFfn, Ffn(32, "%y", "%a, %u"),
             "gate and up are products of different values");
  ExpectKept(kFuseGatedFfn, Ffn(24, "%x", "%a, %u"),
             "recipe: interleave of 24 and 24 rows, expected equal multiples of 16");
  ExpectKept(kFuseGatedFfn, Ffn(32, "%x", "%a, %u") + "output u = %u\n",
             "mul: operand 1 is a graph output");
  ExpectKept(kFuseGatedFfn, Ffn(32, "%x", "%a, %a") + "output u = %u\n",
             "mul: operand 0 is used by 2 nodes");
}

}  // namespace
}  // namespace tboost
