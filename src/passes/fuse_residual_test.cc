#include <gtest/gtest.h>

#include "src/passes/pass_testing.h"

namespace tboost {
namespace {

const std::string kHead =
    "input %x : f32[tokens, 8]\n"
    "input %r : f32[tokens, 4]\n"
    "const %w : f32[4, 8] = file(0, 0, f32[4, 8])\n";
const std::string kProduct = "%p : f32[tokens, 4] = linear(%x, %w, _)\n";
const std::string kFused =
    kHead + "%s : f32[tokens, 4] = fused_linear(%x, %w, _, _, _, %r)\noutput s = %s\n";

TEST(FuseResidual, EitherOrder) {
  for (const char* operands : {"%p, %r", "%r, %p"})
    ExpectRewritten(
        kFuseResidual,
        kHead + kProduct + "%s : f32[tokens, 4] = add(" + operands + ")\noutput s = %s\n", kFused);
}

TEST(FuseResidual, KeepsActivationAndNorm) {
  ExpectRewritten(kFuseResidual,
                  kHead +
                      "const %g : f32[8] = file(0, 256, f32[1, 8])\n"
                      "%p : f32[tokens, 4] = fused_linear(%x, %w, _, %g, _, _) "
                      "{activation=\"relu\", eps=1e-06, norm=\"rms\"}\n"
                      "%s : f32[tokens, 4] = add(%r, %p)\n"
                      "output s = %s\n",
                  kHead +
                      "const %g : f32[8] = file(0, 256, f32[1, 8])\n"
                      "%s : f32[tokens, 4] = fused_linear(%x, %w, _, %g, _, %r) "
                      "{activation=\"relu\", eps=1e-06, norm=\"rms\"}\n"
                      "output s = %s\n");
}

TEST(FuseResidual, Kept) {
  const std::string sum = "%s : f32[tokens, 4] = add(%p, %r)\n";
  ExpectKept(kFuseResidual, kHead + kProduct + sum + "output s = %s\noutput p = %p\n",
             "add: operand 0 is a graph output");
  ExpectKept(kFuseResidual,
             kHead + "const %c : f32[4] = file(0, 128, f32[1, 4])\n" + kProduct +
                 "%s : f32[tokens, 4] = add(%p, %c)\noutput s = %s\n",
             "add: the residual has another shape than the sum");
  ExpectKept(kFuseResidual,
             kHead + "const %g : f32[4] = file(0, 128, f32[1, 4])\n" + kProduct + sum +
                 "%n : f32[tokens, 4] = layer_norm(%s, %g, _)\noutput n = %n\n",
             "add: only a norm reads the sum");
  ExpectKept(
      kFuseResidual,
      kHead + "%p : f32[tokens, 4] = fused_linear(%x, %w, _, _, _, %r)\n" + sum + "output s = %s\n",
      "fused_linear: operand 5 is present");
}

}  // namespace
}  // namespace tboost
