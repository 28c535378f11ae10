#include <gtest/gtest.h>

#include "src/passes/pass_testing.h"

namespace tboost {
namespace {

const std::string kHead =
    "input %x : f32[tokens, 8]\n"
    "const %w : f32[4, 8] = file(0, 0, f32[4, 8])\n"
    "const %g : f32[8] = file(0, 256, f32[1, 8])\n";

TEST(FuseNormLinear, EveryReaderNormalises) {
  ExpectRewritten(
      kFuseNormLinear,
      kHead +
          "%n : f32[tokens, 8] = rms_norm(%x, %g) {eps=1e-05}\n"
          "%p : f32[tokens, 4] = linear(%n, %w, _)\n"
          "%q : f32[tokens, 4] = fused_linear(%n, %w, _, _, _, %p) {activation=\"silu\"}\n"
          "output q = %q\n",
      kHead +
          "%p : f32[tokens, 4] = fused_linear(%x, %w, _, %g, _, _) {eps=1e-05, norm=\"rms\"}\n"
          "%q : f32[tokens, 4] = fused_linear(%x, %w, _, %g, _, %p) "
          "{activation=\"silu\", eps=1e-05, norm=\"rms\"}\n"
          "output q = %q\n");
}

TEST(FuseNormLinear, LayerNormWithBeta) {
  const std::string head = kHead + "const %b : f32[8] = file(0, 512, f32[1, 8])\n";
  ExpectRewritten(kFuseNormLinear,
                  head +
                      "%n : f32[tokens, 8] = layer_norm(%x, %g, %b)\n"
                      "%p : f32[tokens, 4] = linear(%n, %w, _)\n"
                      "output p = %p\n",
                  head +
                      "%p : f32[tokens, 4] = fused_linear(%x, %w, _, %g, %b, _) "
                      "{eps=1e-05, norm=\"layer\"}\n"
                      "output p = %p\n");
}

TEST(FuseNormLinear, Kept) {
  const std::string norm = kHead + "%n : f32[tokens, 8] = rms_norm(%x, %g)\n";
  const std::string product = norm + "%p : f32[tokens, 4] = linear(%n, %w, _)\n";
  ExpectKept(kFuseNormLinear, product + "output p = %p\noutput n = %n\n", "it is a graph output");
  ExpectKept(kFuseNormLinear,
             product + "%m : f32[tokens, 8] = mul(%x, %n)\noutput m = %m\noutput p = %p\n",
             "its reader m is mul, expected linear|fused_linear");
  ExpectKept(kFuseNormLinear,
             "input %x : f32[tokens, 8]\n"
             "const %w : f32[8, 8] = file(0, 0, f32[8, 8])\n"
             "const %g : f32[8] = file(0, 256, f32[1, 8])\n"
             "%n : f32[tokens, 8] = rms_norm(%x, %g)\n"
             "%p : f32[tokens, 8] = fused_linear(%n, %w, _, _, _, %n)\n"
             "output p = %p\n",
             "p reads it as another operand than x");
}

}  // namespace
}  // namespace tboost
