#include "src/passes/dead_code.h"

#include <gtest/gtest.h>

#include "src/passes/pass_testing.h"

namespace tboost {
namespace {

TEST(DeadCode, KeepsWhatOutputsNeed) {
  ExpectRewritten(kDeadCode,
                  "input %x : f32[tokens, 4]\n"
                  "const %c : f32[4] = file(0, 0, f32[1, 4])\n"
                  "%a : f32[tokens, 4] = add(%x, %x)\n"
                  "%b : f32[tokens, 4] = mul(%a, %c)\n"
                  "%d : f32[tokens, 4] = mul(%b, %a)\n"
                  "output a = %a\n",
                  "input %x : f32[tokens, 4]\n"
                  "%a : f32[tokens, 4] = add(%x, %x)\n"
                  "output a = %a\n");
}

TEST(DeadCode, LeavesLiveGraphsAlone) {
  Graph graph = GraphFromText(
      "input %x : f32[tokens, 4]\n"
      "%a : f32[tokens, 4] = add(%x, %x)\n"
      "output a = %a\n");
  EXPECT_EQ(RemoveDeadNodes(graph), 0);
}

}  // namespace
}  // namespace tboost
