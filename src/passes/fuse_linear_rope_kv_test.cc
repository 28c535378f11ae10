#include <gtest/gtest.h>

#include "src/passes/pass_testing.h"

namespace tboost {
namespace {

const std::string kHead =
    "input %x : f32[tokens, 24]\n"
    "input %angles : f32[tokens, 16]\n"
    "input %layout : layout[tokens, sequences]\n"
    "input %cache : kv_cache[2, 16]\n";
const std::string kWeights =
    "const %gamma : f32[24] = file(0, 0, f32[1, 24])\n"
    "const %w : f32[96, 24] = file(0, 96, f32[96, 24])\n";
const std::string kRope =
    "%r, %c : f32[tokens, 32], kv_cache[2, 16] = rope_kv(%q, %k, %v, %angles, %layout, %cache, _, "
    "_) {head_dim=16, heads=2, kv_heads=2} @\"attn\"\n"
    "%a : f32[tokens, 32] = paged_attention(%r, %c, %layout) {causal=true, head_dim=16, heads=2, "
    "kv_heads=2}\n";
const std::string kOutputs = "output a = %a\noutput cache = %c\n";
const std::string kFusedOutputs = "output a = %a\noutput cache = %r.1\n";
const std::string kColumns =
    "%q : f32[tokens, 32] = columns(%y) {count=32}\n"
    "%k : f32[tokens, 32] = columns(%y) {begin=32, count=32}\n";
const std::string kValues = "%v : f32[tokens, 32] = columns(%y) {begin=64, count=32}\n";
const std::string kProduct =
    "%y : f32[tokens, 96] = fused_linear(%x, %w, _, %gamma, _, _) {eps=1e-06, norm=\"rms\"}\n";

TEST(FuseLinearRopeKv, OneProduct) {
  ExpectRewritten(
      kFuseLinearRopeKv, kHead + kWeights + kProduct + kColumns + kValues + kRope + kOutputs,
      kHead + kWeights +
          "%r, %r.1 : f32[tokens, 96], kv_cache[2, 16] = linear_rope_kv(%x, %w, _, %gamma, _, _, "
          "%angles, %layout, %cache, _, _) {eps=1e-06, heads=2, kv_heads=2, "
          "norm=\"rms\"} @\"attn\"\n"
          "%r.q : f32[tokens, 32] = columns(%r) {count=32} @\"attn\"\n"
          "%a : f32[tokens, 32] = paged_attention(%r.q, %r.1, %layout) {causal=true, head_dim=16, "
          "heads=2, kv_heads=2}\n" +
          kFusedOutputs);
}

TEST(FuseLinearRopeKv, ValuesByWeightsOfTheirOwn) {
  const std::string weights =
      "const %wqk : f32[64, 24] = file(0, 0, f32[64, 24])\n"
      "const %wv : f32[32, 24] = file(0, 6144, f32[32, 24])\n";
  ExpectRewritten(
      kFuseLinearRopeKv,
      kHead + weights + "%y : f32[tokens, 64] = linear(%x, %wqk, _)\n" + kColumns +
          "%v : f32[tokens, 32] = linear(%x, %wv, _)\n" + kRope + kOutputs,
      kHead + weights +
          "%r, %r.1 : f32[tokens, 96], kv_cache[2, 16] = linear_rope_kv(%x, %wqk, _, _, _, %wv, "
          "%angles, %layout, %cache, _, _) {heads=2, kv_heads=2} @\"attn\"\n"
          "%r.q : f32[tokens, 32] = columns(%r) {count=32} @\"attn\"\n"
          "%a : f32[tokens, 32] = paged_attention(%r.q, %r.1, %layout) {causal=true, head_dim=16, "
          "heads=2, kv_heads=2}\n" +
          kFusedOutputs);
}

TEST(FuseLinearRopeKv, Kept) {
  ExpectKept(
      kFuseLinearRopeKv,
      kHead + "input %v : f32[tokens, 32]\n" + kWeights + kProduct + kColumns + kRope + kOutputs,
      "rope_kv: q, k or v is not the result of a product that it alone reads");
  ExpectKept(
      kFuseLinearRopeKv,
      kHead + kWeights + kProduct + kColumns + kValues + kRope + kOutputs + "output y = %y\n",
      "rope_kv: its product has other readers");
  ExpectKept(kFuseLinearRopeKv,
             kHead + kWeights + kProduct +
                 "%q : f32[tokens, 32] = columns(%y) {begin=32, count=32}\n"
                 "%k : f32[tokens, 32] = columns(%y) {count=32}\n" +
                 kValues + kRope + kOutputs,
             "rope_kv: q, k and v are not neighbouring columns of one product");
  ExpectKept(kFuseLinearRopeKv,
             "input %x : f32[tokens, 24]\n"
             "input %layout : layout[tokens, sequences]\n"
             "input %cache : kv_cache[1, 24]\n"
             "const %w : f32[72, 24] = file(0, 0, f32[72, 24])\n"
             "%y : f32[tokens, 72] = linear(%x, %w, _)\n"
             "%q : f32[tokens, 24] = columns(%y) {count=24}\n"
             "%k : f32[tokens, 24] = columns(%y) {begin=24, count=24}\n"
             "%v : f32[tokens, 24] = columns(%y) {begin=48, count=24}\n"
             "%r, %c : f32[tokens, 24], kv_cache[1, 24] = rope_kv(%q, %k, %v, _, %layout, %cache, "
             "_, _) {head_dim=24}\n"
             "output r = %r\noutput cache = %c\n",
             "rope_kv: heads of 24 are no whole panels of 16 columns");
}

}  // namespace
}  // namespace tboost
