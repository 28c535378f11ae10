#include "src/ops/rope_kv.h"

#include <algorithm>

#include "src/ops/cases.h"
#include "src/ops/cost.h"
#include "src/ops/kv_cache.h"
#include "src/ops/lowering.h"
#include "src/ops/reference_math.h"
#include "src/ops/rope.h"
#include "src/ops/shape_rule.h"

namespace tboost::ops {
namespace {

enum Operand { kQ, kK, kV, kAngles, kLayout, kCache, kQGamma, kKGamma };

Result<std::vector<ValueType>> Infer(std::span<const ValueType> inputs,
                                     std::span<const bool> present, const Attributes& attributes) {
  TBOOST_ASSIGN_OR_RETURN(const auto a, ParseAttributes<RopeKvAttributes>(attributes, "rope_kv"));
  ShapeRule rule(RopeKv(), inputs, present);
  rule.Count("heads", a.heads).Count("kv_heads", a.kv_heads).Count("head_dim", a.head_dim);
  rule.Epsilon(a.eps);
  if (!rule.ok()) return rule.Outputs({});
  rule.Set('h', a.heads * a.head_dim).Set('g', a.kv_heads * a.head_dim).Set('d', a.head_dim);
  rule.Operand(kLayout, "ts").Operand(kQ, "th").Operand(kK, "tg").Operand(kV, "tg");
  rule.Operand(kAngles, "tr").Operand(kQGamma, "d").Operand(kKGamma, "d");
  if (rule.present(kAngles)) CheckRotaryDim(a.head_dim, rule);
  if (!rule.present(kCache)) return rule.Outputs({"th", "tg"});
  rule.Cache(kCache, a.kv_heads, a.head_dim);
  return rule.Types({TensorType(rule.Shape("th")), inputs[kCache]});
}

// Norm, then rotation, of the heads of x.
RefTensor PrepareHeads(const RefTensor& x, const RefTensor* gamma, const RefTensor* angles,
                       RopeAttributes shape, double eps) {
  RefTensor out = x;
  if (gamma)
    for (int64_t part = 0; part < x.rows() * shape.heads; ++part) {
      double* head = out.data.data() + part * shape.head_dim;
      NormalizeRow(kernels::NormKind::kRms, head, shape.head_dim, gamma->row(0), nullptr, eps,
                   head);
    }
  if (angles) RotateRows(*angles, shape, false, out);
  return out;
}

Status Reference(const RefCall& call) {
  const auto a = CheckedAttributes<RopeKvAttributes>(*call.attributes);
  const RefTensor* angles = call.inputs[kAngles].tensor;
  call.outputs[0] = PrepareHeads(*call.inputs[kQ].tensor, call.inputs[kQGamma].tensor, angles,
                                 {a.heads, a.head_dim}, a.eps);
  RefTensor k = PrepareHeads(*call.inputs[kK].tensor, call.inputs[kKGamma].tensor, angles,
                             {a.kv_heads, a.head_dim}, a.eps);
  if (RefKvCache* cache = call.inputs[kCache].cache)
    return StoreToCache("rope_kv", k, *call.inputs[kV].tensor, *call.inputs[kLayout].layout,
                        *cache);
  call.outputs[1] = std::move(k);
  return OkStatus();
}

Cost RopeCost(std::span<const TensorView> inputs, std::span<const TensorView> outputs,
              const Attributes&) {
  const double elements =
      static_cast<double>(inputs[kQ].shape.elements() + inputs[kK].shape.elements());
  return {7 * elements, BytesOf(inputs.first(kLayout)) + BytesOf(outputs.first(1)) +
                            BytesOf(inputs.subspan(kK, 2))};
}

Result<KernelCall> Lower(const LowerContext& context) {
  const auto a = CheckedAttributes<RopeKvAttributes>(*context.attributes);
  const TensorView &k = context.inputs[kK], &v = context.inputs[kV],
                   &angles = context.inputs[kAngles], &k_out = context.outputs[1];
  kernels::RopeKvArgs args = MakeHeadsArgs(context, a.heads, a.head_dim);
  args.k = Floats(k);
  args.ldk = k.stride();
  args.v = Floats(v);
  args.ldv = v.stride();
  args.k_out = MutableFloats(k_out);
  args.ldk_out = k_out.stride();
  if (angles.data) SetAngles(angles, args);
  args.kv_heads = static_cast<int>(a.kv_heads);
  args.q_gamma = Floats(context.inputs[kQGamma]);
  args.k_gamma = Floats(context.inputs[kKGamma]);
  args.eps = static_cast<float>(a.eps);
  args.cache = context.cache;
  args.layout = context.layout;
  return CallKernel("rope_kv", context.kernels->rope_kv, args);
}

// `operands`: a(ngles), c(ache), n(orms).
OpCase Case(RopeKvAttributes a, int64_t rotary_dim, std::string_view operands) {
  const auto has = [&](char letter) { return operands.find(letter) != operands.npos; };
  const int64_t t = 10, g = a.kv_heads * a.head_dim;
  const ValueType gamma = TensorType({a.head_dim});
  OpCase out = MakeCase(fmt::format("heads {}/{} of {}, {} rotated, operands {}", a.heads,
                                    a.kv_heads, a.head_dim, rotary_dim, operands),
                        {TensorType({t, a.heads * a.head_dim}), TensorType({t, g}),
                         TensorType({t, g}), TensorType({t, rotary_dim}), LayoutType(t, 3),
                         CacheType(a.kv_heads, a.head_dim), gamma, gamma},
                        MakeAttributes(a));
  out.present = {true, true, true, has('a'), true, has('c'), has('n'), has('n')};
  out.lengths = {1, 6, 3};
  out.past = {0, 60, 3};
  return out;
}

std::vector<OpCase> Cases() {
  return {Case({9, 3, 64}, 64, "ac"), Case({4, 2, 24}, 8, "a"), Case({2, 1, 80}, 80, "acn"),
          Case({4, 4, 16}, 16, "c"), Case({2, 1, 32, 1e-6}, 32, "an")};
}

}  // namespace

const OpRecord& RopeKv() {
  static const OpRecord record = {
      .name = "rope_kv",
      .doc =
          "The heads of q and k, normalised (rms) where they have a gamma and rotated where there "
          "are angles; k and v go to the cache where there is one, else k is a result.",
      .inputs = {{"q"},
                 {"k"},
                 {"v"},
                 {.name = "angles", .optional = true},
                 {"layout", ValueType::Kind::kLayout},
                 {.name = "cache", .kind = ValueType::Kind::kKvCache, .optional = true},
                 {.name = "q_gamma", .optional = true},
                 {.name = "k_gamma", .optional = true}},
      .outputs = {"q", "k_or_cache"},
      .attributes = DescribeAttributes<RopeKvAttributes>(),
      .infer = Infer,
      .reference = Reference,
      .cost = RopeCost,
      .lower = Lower,
      .cases = Cases,
      .in_place_input = kQ,
  };
  return record;
}

}  // namespace tboost::ops
