#include <gtest/gtest.h>

#include "src/passes/pass_testing.h"

namespace tboost {
namespace {

TEST(CommonSubexpressions, MergesChains) {
  ExpectRewritten(kCommonSubexpressions,
                  "input %x : f32[tokens, 4]\n"
                  "const %c : f32[4] = file(0, 16, f32[1, 4])\n"
                  "const %d : f32[4] = file(0, 16, f32[1, 4])\n"
                  "%a : f32[tokens, 4] = add(%x, %c)\n"
                  "%b : f32[tokens, 4] = add(%x, %d)\n"
                  "%p : f32[tokens, 4] = activation(%a) {kind=\"relu\"}\n"
                  "%q : f32[tokens, 4] = activation(%b) {kind=\"relu\"}\n"
                  "%s : f32[tokens, 4] = mul(%p, %q)\n"
                  "output s = %s\n"
                  "output q = %q\n",
                  "input %x : f32[tokens, 4]\n"
                  "const %c : f32[4] = file(0, 16, f32[1, 4])\n"
                  "%a : f32[tokens, 4] = add(%x, %c)\n"
                  "%p : f32[tokens, 4] = activation(%a) {kind=\"relu\"}\n"
                  "%s : f32[tokens, 4] = mul(%p, %p)\n"
                  "output s = %s\n"
                  "output q = %p\n");
}

TEST(CommonSubexpressions, KeepsWhatDiffers) {
  ExpectKept(kCommonSubexpressions,
             "input %x : f32[tokens, 4]\n"
             "const %c : f32[4] = file(0, 16, f32[1, 4])\n"
             "const %d : f32[4] = file(0, 32, f32[1, 4])\n"
             "%a : f32[tokens, 4] = add(%x, %c)\n"
             "%b : f32[tokens, 4] = add(%x, %d)\n"
             "%e : f32[tokens, 4] = mul(%x, %c)\n"
             "%p : f32[tokens, 4] = activation(%a) {kind=\"relu\"}\n"
             "%q : f32[tokens, 4] = activation(%a) {kind=\"silu\"}\n"
             "output b = %b\n"
             "output e = %e\n"
             "output p = %p\n"
             "output q = %q\n",
             "");
}

}  // namespace
}  // namespace tboost
