#include <gtest/gtest.h>

#include "src/passes/pass_testing.h"

namespace tboost {
namespace {

const std::string kHead =
    "input %x : f32[tokens, 8]\n"
    "input %r : f32[tokens, 8]\n"
    "const %g : f32[8] = file(0, 0, f32[1, 8])\n"
    "const %b : f32[8] = file(0, 32, f32[1, 8])\n";

TEST(FuseResidualNorm, LayerNorm) {
  ExpectRewritten(kFuseResidualNorm,
                  kHead +
                      "%s : f32[tokens, 8] = add(%x, %r)\n"
                      "%n : f32[tokens, 8] = layer_norm(%s, %g, %b) {eps=1e-12}\n"
                      "output n = %n\n",
                  kHead +
                      "%n, %n.1 : f32[tokens, 8], f32[tokens, 8] = add_norm(%x, %r, %g, %b) "
                      "{eps=1e-12}\n"
                      "output n = %n\n");
}

TEST(FuseResidualNorm, SumIsTheSecondResult) {
  const std::string head = kHead.substr(0, kHead.find("const %b"));
  ExpectRewritten(kFuseResidualNorm,
                  head +
                      "%s : f32[tokens, 8] = add(%x, %r)\n"
                      "%t : f32[tokens, 8] = mul(%s, %x)\n"
                      "%n : f32[tokens, 8] = rms_norm(%s, %g) {eps=1e-05}\n"
                      "output n = %n\n"
                      "output t = %t\n"
                      "output s = %s\n",
                  head +
                      "%n, %n.1 : f32[tokens, 8], f32[tokens, 8] = add_norm(%x, %r, %g, _) "
                      "{norm=\"rms\"}\n"
                      "%t : f32[tokens, 8] = mul(%n.1, %x)\n"
                      "output n = %n\n"
                      "output t = %t\n"
                      "output s = %n.1\n");
}

TEST(FuseResidualNorm, Kept) {
  const std::string head = kHead.substr(0, kHead.find("const %b"));
  ExpectKept(kFuseResidualNorm,
             head +
                 "%s : f32[tokens, 8] = add(%x, %g)\n"
                 "%n : f32[tokens, 8] = rms_norm(%s, %g)\n"
                 "output n = %n\n",
             "add: operand 1 is one row for all");
  ExpectKept(kFuseResidualNorm,
             head +
                 "const %h : f32[4] = file(0, 64, f32[1, 4])\n"
                 "%s : f32[tokens, 8] = add(%x, %r)\n"
                 "%n : f32[tokens, 8] = rms_norm(%s, %h) {groups=2}\n"
                 "%m : f32[tokens, 8] = mul(%n, %g)\n"
                 "output m = %m\n",
             "rms_norm: it normalises parts of rows");
}

}  // namespace
}  // namespace tboost
