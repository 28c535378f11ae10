#include <gtest/gtest.h>

#include "src/passes/pass_testing.h"

namespace tboost {
namespace {

const std::string kInputs =
    "input %x : f32[tokens, 8]\n"
    "const %w : f32[4, 8] = file(0, 0, f32[4, 8])\n"
    "const %c : f32[4] = file(0, 128, f32[1, 4])\n"
    "%p : f32[tokens, 4] = linear(%x, %w, %c)\n";

TEST(FuseActivation, GoesIntoTheProduct) {
  ExpectRewritten(kFuseActivation,
                  kInputs +
                      "%s : f32[tokens, 4] = activation(%p) {kind=\"gelu_erf\"} @\"ffn\"\n"
                      "output s = %s\n",
                  kInputs.substr(0, kInputs.find("%p")) +
                      "%s : f32[tokens, 4] = fused_linear(%x, %w, %c, _, _, _) "
                      "{activation=\"gelu_erf\"} @\"ffn\"\n"
                      "output s = %s\n");
}

TEST(FuseActivation, Kept) {
  const std::string text = kInputs +
                           "%s : f32[tokens, 4] = activation(%p) {kind=\"silu\"}\n"
                           "%t : f32[tokens, 4] = mul(%s, %p)\n"
                           "output t = %t\n";
  ExpectKept(kFuseActivation, text, "activation: operand 0 is used by 2 nodes");
  ExpectKept(kFuseActivation,
             "input %x : f32[tokens, 8]\n"
             "%s : f32[tokens, 8] = activation(%x) {kind=\"silu\"}\n"
             "output s = %s\n",
             "");
}

}  // namespace
}  // namespace tboost
