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

}  // namespace
}  // namespace tboost
