#include <cmath>

#include "src/ops/attention.h"
#include "src/ops/cases.h"
#include "src/ops/cost.h"
#include "src/ops/kv_cache.h"
#include "src/ops/lowering.h"
#include "src/ops/shape_rule.h"

namespace tboost::ops {
namespace {

Result<std::vector<ValueType>> Infer(std::span<const ValueType> inputs,
                                     std::span<const bool> present, const Attributes& attributes) {
  TBOOST_ASSIGN_OR_RETURN(const auto a,
                          ParseAttributes<AttentionAttributes>(attributes, "paged_attention"));
  ShapeRule rule(PagedAttention(), inputs, present);
  CheckAttention(a, rule);
  rule.Cache(1, a.kv_heads, a.head_dim).Operand(2, "ts").Operand(0, "th");
  return rule.Outputs({"th"});
}

Status Reference(const RefCall& call) {
  const auto a = CheckedAttributes<AttentionAttributes>(*call.attributes);
  const RefTensor& q = *call.inputs[0].tensor;
  const RefKvCache& cache = *call.inputs[1].cache;
  const SequenceLayout& layout = *call.inputs[2].layout;
  TBOOST_RETURN_IF_ERROR(CheckCache("paged_attention", cache, layout));
  const int64_t width = a.kv_heads * a.head_dim;
  for (int64_t t = 0; t < layout.tokens; ++t) {
    const int32_t s = layout.sequence_of[t];
    const int64_t keys = layout.past[s] + layout.offsets[s + 1] - layout.offsets[s];
    if (static_cast<int64_t>(cache.keys[s].size()) < keys * width)
      return InvalidArgumentError(
          "[paged_attention] the cache of sequence {} lacks this step's tokens", s);
    std::vector<double> weights(keys);
    for (int64_t h = 0; h < a.heads; ++h) {
      const int64_t shared = h * a.kv_heads / a.heads * a.head_dim;
      const RefHead head = {q.row(t) + h * a.head_dim,
                            cache.keys[s].data() + shared,
                            cache.values[s].data() + shared,
                            width,
                            keys,
                            layout.Position(t)};
      AttendHead(a, head, weights.data(), call.outputs[0].row(t) + h * a.head_dim);
    }
  }
  return OkStatus();
}

// Of the step's own tokens only: how much the cache holds is not known from shapes.
Cost CostOfAttention(std::span<const TensorView> inputs, std::span<const TensorView> outputs,
                     const Attributes& attributes) {
  const Shape& layout = inputs[2].shape;
  const double keys = static_cast<double>(layout[0]) / static_cast<double>(layout[1]);
  return AttentionCost(inputs.first(1), outputs, attributes, keys);
}

Result<KernelCall> Lower(const LowerContext& context) {
  kernels::AttentionArgs args =
      MakeAttentionArgs(context, CheckedAttributes<AttentionAttributes>(*context.attributes));
  args.cache = context.cache;
  return CallKernel("attention", context.kernels->attention, args);
}

OpCase Case(std::vector<int32_t> lengths, std::vector<int32_t> past, AttentionAttributes a) {
  int64_t tokens = 0;
  for (int32_t n : lengths) tokens += n;
  a.scale = 1 / std::sqrt(static_cast<double>(a.head_dim));
  a.causal = true;
  OpCase out =
      MakeCase(fmt::format("lengths {} past {} heads {}/{} of {}", fmt::join(lengths, ","),
                           fmt::join(past, ","), a.heads, a.kv_heads, a.head_dim),
               {TensorType({tokens, a.heads * a.head_dim}), CacheType(a.kv_heads, a.head_dim),
                LayoutType(tokens, static_cast<int64_t>(lengths.size()))},
               MakeAttributes(a));
  out.lengths = std::move(lengths);
  out.past = std::move(past);
  return out;
}

std::vector<OpCase> Cases() {
  return {
      Case({1}, {0}, {1, 1, 8}),
      Case({1, 1, 1}, {63, 64, 200}, {9, 3, 64}),
      Case({70, 1, 5}, {0, 10, 126}, {4, 2, 32}),
      Case({3, 66}, {90, 30}, {4, 1, 48, 1, true, 40}),
      Case({2, 3}, {5, 64}, {2, 2, 16, 1, true, 0, 20}),
  };
}

}  // namespace

const OpRecord& PagedAttention() {
  static const OpRecord record = {
      .name = "paged_attention",
      .doc =
          "y = softmax(scale * q k^T) v for each sequence and head, over the keys and values of "
          "the cache, which holds the step's own tokens already.",
      .inputs = {{"q"}, {"cache", ValueType::Kind::kKvCache}, {"layout", ValueType::Kind::kLayout}},
      .outputs = {"y"},
      .attributes = DescribeAttributes<AttentionAttributes>(),
      .infer = Infer,
      .reference = Reference,
      .cost = CostOfAttention,
      .lower = Lower,
      .cases = Cases,
  };
  return record;
}

}  // namespace tboost::ops
