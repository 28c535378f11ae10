#include "src/ops/cases.h"
#include "src/ops/cost.h"
#include "src/ops/kv_cache.h"
#include "src/ops/lowering.h"
#include "src/ops/shape_rule.h"

namespace tboost::ops {
namespace {

Result<std::vector<ValueType>> Infer(std::span<const ValueType> inputs,
                                     std::span<const bool> present, const Attributes& attributes) {
  TBOOST_RETURN_IF_ERROR(ParseAttributes<NoAttributes>(attributes, "kv_write").status());
  ShapeRule rule(KvWrite(), inputs, present);
  rule.Cache(3).Operand(2, "ts").Operand(0, "tg").Operand(1, "tg");
  if (!rule.ok()) return rule.Outputs({});
  return rule.Types({inputs[3]});
}

Status Reference(const RefCall& call) {
  return StoreToCache("kv_write", *call.inputs[0].tensor, *call.inputs[1].tensor,
                      *call.inputs[2].layout, *call.inputs[3].cache);
}

Cost WriteCost(std::span<const TensorView> inputs, std::span<const TensorView>, const Attributes&) {
  return {0, 2 * BytesOf(inputs.first(2))};
}

// The rope kernel without queries and without a rotation.
Result<KernelCall> Lower(const LowerContext& context) {
  const TensorView &k = context.inputs[0], &v = context.inputs[1];
  kernels::RopeKvArgs args;
  args.k = Floats(k);
  args.ldk = k.stride();
  args.v = Floats(v);
  args.ldv = v.stride();
  args.kv_heads = context.cache.kv_heads;
  args.head_dim = context.cache.head_dim;
  args.cache = context.cache;
  args.tokens = k.rows();
  args.layout = context.layout;
  return CallKernel("rope_kv", context.kernels->rope_kv, args);
}

std::vector<OpCase> Cases() {
  OpCase out = MakeCase("2 heads of 24, 3 sequences", {TensorType({72, 48}), TensorType({72, 48}),
                                                       LayoutType(72, 3), CacheType(2, 24)});
  out.lengths = {1, 66, 5};
  out.past = {0, 0, 61};
  return {out};
}

}  // namespace

const OpRecord& KvWrite() {
  static const OpRecord record = {
      .name = "kv_write",
      .doc = "Stores the keys and values of the step's tokens after those that the cache has.",
      .inputs = {{"k"},
                 {"v"},
                 {"layout", ValueType::Kind::kLayout},
                 {"cache", ValueType::Kind::kKvCache}},
      .outputs = {"cache"},
      .attributes = {},
      .infer = Infer,
      .reference = Reference,
      .cost = WriteCost,
      .lower = Lower,
      .cases = Cases,
      .tolerance = 0,
  };
  return record;
}

}  // namespace tboost::ops
