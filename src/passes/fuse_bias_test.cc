#include <gtest/gtest.h>

#include "src/passes/pass_testing.h"

namespace tboost {
namespace {

const std::string kInputs =
    "input %x : f32[tokens, 8]\n"
    "const %w : f32[4, 8] = file(0, 0, f32[4, 8])\n"
    "const %c : f32[4] = file(0, 128, f32[1, 4])\n";

TEST(FuseBias, RowBecomesBias) {
  ExpectRewritten(kFuseBias,
                  kInputs +
                      "%p : f32[tokens, 4] = linear(%x, %w, _)\n"
                      "%s : f32[tokens, 4] = add(%p, %c)\n"
                      "output s = %s\n",
                  kInputs +
                      "%s : f32[tokens, 4] = linear(%x, %w, %c)\n"
                      "output s = %s\n");
}

TEST(FuseBias, Kept) {
  ExpectKept(kFuseBias,
             kInputs +
                 "%p : f32[tokens, 4] = linear(%x, %w, _)\n"
                 "%s : f32[tokens, 4] = add(%p, %c)\n"
                 "output s = %s\n"
                 "output p = %p\n",
             "add: operand 0 is a graph output");
  ExpectKept(kFuseBias,
             kInputs +
                 "%p : f32[tokens, 4] = linear(%x, %w, %c)\n"
                 "%s : f32[tokens, 4] = add(%p, %c)\n"
                 "output s = %s\n",
             "linear: operand 2 is present");
  ExpectKept(kFuseBias,
             "input %y : f32[tokens, 4]\n" + kInputs.substr(0, kInputs.rfind("const")) +
                 "%p : f32[tokens, 4] = linear(%x, %w, _)\n"
                 "%s : f32[tokens, 4] = add(%p, %y)\n"
                 "output s = %s\n",
             "add: operand 1 is not a constant");
}

}  // namespace
}  // namespace tboost
