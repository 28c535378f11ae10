#include "src/passes/round_products.h"

#include <gtest/gtest.h>

#include "src/passes/pass_testing.h"

namespace tboost {
namespace {

TEST(RoundProducts, ThoseWithWeightsInBF16) {
  const std::string inputs =
      "input %x : f32[tokens, 8]\n"
      "const %v : bf16[8, 8] = file(0, 0, bf16[8, 8])\n"
      "const %w : f32[4, 8] = file(0, 128, f32[4, 8])\n";
  Graph graph = GraphFromText(inputs +
                              "%p : f32[tokens, 8] = linear(%x, %v, _)\n"
                              "%s : f32[tokens, 4] = linear(%p, %w, _)\n"
                              "output s = %s\n");
  const Result<int> products = RoundProducts(graph);
  ASSERT_TRUE(products.ok());
  EXPECT_EQ(*products, 1);
  EXPECT_EQ(ToText(graph),
            inputs +
                "%p : f32[tokens, 8] = fused_linear(%x, %v, _, _, _, _) {round_rows=true}\n"
                "%s : f32[tokens, 4] = linear(%p, %w, _)\n"
                "output s = %s\n");
}

TEST(RoundProducts, TheHeadsOfALayer) {
  const std::string before =
      "input %x : f32[tokens, 8]\n"
      "input %layout : layout[tokens, sequences]\n"
      "input %cache : kv_cache[1, 16]\n"
      "const %w : bf16[48, 8] = file(0, 0, bf16[48, 8])\n"
      "%r, %c : f32[tokens, 48], kv_cache[1, 16] = linear_rope_kv(%x, %w, _, _, _, _, _, %layout, "
      "%cache, _, _)";
  const std::string after = "output r = %r\noutput cache = %c\n";
  Graph graph = GraphFromText(before + "\n" + after);
  const Result<int> products = RoundProducts(graph);
  ASSERT_TRUE(products.ok()) << products.status().message();
  EXPECT_EQ(*products, 1);
  EXPECT_EQ(ToText(graph), before + " {round_rows=true}\n" + after);
}

}  // namespace
}  // namespace tboost
