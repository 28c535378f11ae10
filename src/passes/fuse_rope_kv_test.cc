#include <gtest/gtest.h>

#include "src/passes/pass_testing.h"

namespace tboost {
namespace {

const std::string kHead =
    "input %q0 : f32[tokens, 32]\n"
    "input %k0 : f32[tokens, 16]\n"
    "input %v : f32[tokens, 16]\n"
    "input %layout : layout[tokens, sequences]\n"
    "input %cache : kv_cache[2, 8]\n";
const std::string kAngles = "%angles : f32[tokens, 8] = rope_angles(%layout, _) {rotary_dim=8}\n";
const std::string kRotations =
    "%q : f32[tokens, 32] = rope(%q0, %angles) {head_dim=8, heads=4}\n"
    "%k : f32[tokens, 16] = rope(%k0, %angles) {head_dim=8, heads=2}\n";
const std::string kWrite = "%c : kv_cache[2, 8] = kv_write(%k, %v, %layout, %cache) @\"attn\"\n";
const std::string kHeads = " {causal=true, head_dim=8, heads=4, kv_heads=2}\n";
const std::string kAttention = "%a : f32[tokens, 32] = paged_attention(%q, %c, %layout)" + kHeads;
const std::string kOutputs = "output a = %a\noutput cache = %c\n";

TEST(FuseRopeKv, RotationsAndWrite) {
  ExpectRewritten(
      kFuseRopeKv, kHead + kAngles + kRotations + kWrite + kAttention + kOutputs,
      kHead + kAngles +
          "%q, %q.1 : f32[tokens, 32], kv_cache[2, 8] = rope_kv(%q0, %k0, %v, %angles, %layout, "
          "%cache, _, _) {head_dim=8, heads=4, kv_heads=2} @\"attn\"\n"
          "%a : f32[tokens, 32] = paged_attention(%q, %q.1, %layout)" +
          kHeads + "output a = %a\noutput cache = %q.1\n");
}

TEST(FuseRopeKv, NormsOfHeads) {
  const std::string gammas =
      "const %qg : f32[8] = file(0, 0, f32[1, 8])\nconst %kg : f32[8] = file(0, 32, f32[1, 8])\n";
  ExpectRewritten(
      kFuseRopeKv,
      kHead + gammas + kAngles +
          "%qn : f32[tokens, 32] = rms_norm(%q0, %qg) {groups=4}\n"
          "%kn : f32[tokens, 16] = rms_norm(%k0, %kg) {groups=2}\n"
          "%q : f32[tokens, 32] = rope(%qn, %angles) {head_dim=8, heads=4}\n"
          "%k : f32[tokens, 16] = rope(%kn, %angles) {head_dim=8, heads=2}\n" +
          kWrite + kAttention + kOutputs,
      kHead + gammas + kAngles +
          "%q, %q.1 : f32[tokens, 32], kv_cache[2, 8] = rope_kv(%q0, %k0, %v, %angles, %layout, "
          "%cache, %qg, %kg) {eps=1e-06, head_dim=8, heads=4, kv_heads=2} @\"attn\"\n"
          "%a : f32[tokens, 32] = paged_attention(%q, %q.1, %layout)" +
          kHeads + "output a = %a\noutput cache = %q.1\n");
}

TEST(FuseRopeKv, WithoutCache) {
  const std::string head = kHead.substr(0, kHead.find("input %cache"));
  ExpectRewritten(
      kFuseRopeKv,
      head + kAngles + kRotations + "%a : f32[tokens, 32] = attention(%q, %k, %v, %layout)" +
          kHeads + "output a = %a\n",
      head + kAngles +
          "%q, %q.1 : f32[tokens, 32], f32[tokens, 16] = rope_kv(%q0, %k0, %v, %angles, %layout, "
          "_, _, _) {head_dim=8, heads=4, kv_heads=2}\n"
          "%a : f32[tokens, 32] = attention(%q, %q.1, %v, %layout)" +
          kHeads + "output a = %a\n");
}

TEST(FuseRopeKv, Kept) {
  ExpectKept(kFuseRopeKv,
             kHead + kAngles +
                 "%other : f32[tokens, 4] = rope_angles(%layout, _) {rotary_dim=4}\n" +
                 "%q : f32[tokens, 32] = rope(%q0, %other) {head_dim=8, heads=4}\n"
                 "%k : f32[tokens, 16] = rope(%k0, %angles) {head_dim=8, heads=2}\n" +
                 kWrite + kAttention + kOutputs,
             "q and k are rotated by different angles");
  ExpectKept(kFuseRopeKv,
             kHead + kAngles + kRotations + kWrite + kAttention + kOutputs + "output k = %k\n",
             "kv_write: operand 0 is a graph output");
}

}  // namespace
}  // namespace tboost
