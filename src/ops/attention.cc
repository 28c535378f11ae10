#include "src/ops/attention.h"

#include <cmath>

#include "src/ops/cases.h"
#include "src/ops/cost.h"
#include "src/ops/lowering.h"
#include "src/ops/shape_rule.h"

namespace tboost::ops {
namespace {

Result<std::vector<ValueType>> Infer(std::span<const ValueType> inputs,
                                     std::span<const bool> present, const Attributes& attributes) {
  TBOOST_ASSIGN_OR_RETURN(const auto a,
                          ParseAttributes<AttentionAttributes>(attributes, "attention"));
  ShapeRule rule(Attention(), inputs, present);
  CheckAttention(a, rule);
  rule.Operand(3, "ts").Operand(0, "th").Operand(1, "tg").Operand(2, "tg");
  return rule.Outputs({"th"});
}

Status Reference(const RefCall& call) {
  const auto a = CheckedAttributes<AttentionAttributes>(*call.attributes);
  const RefTensor &q = *call.inputs[0].tensor, &k = *call.inputs[1].tensor,
                  &v = *call.inputs[2].tensor;
  const SequenceLayout& layout = *call.inputs[3].layout;
  std::vector<double> weights(layout.tokens);
  for (int64_t t = 0; t < layout.tokens; ++t) {
    const int32_t s = layout.sequence_of[t], first = layout.offsets[s];
    for (int64_t h = 0; h < a.heads; ++h) {
      const int64_t shared = h * a.kv_heads / a.heads * a.head_dim;
      const RefHead head = {q.row(t) + h * a.head_dim,     k.row(first) + shared,
                            v.row(first) + shared,         k.columns(),
                            layout.offsets[s + 1] - first, t - first};
      AttendHead(a, head, weights.data(), call.outputs[0].row(t) + h * a.head_dim);
    }
  }
  return OkStatus();
}

Cost CostOfAttention(std::span<const TensorView> inputs, std::span<const TensorView> outputs,
                     const Attributes& attributes) {
  const Shape& layout = inputs[3].shape;
  const double keys = static_cast<double>(layout[0]) / static_cast<double>(layout[1]);
  return AttentionCost(inputs.first(3), outputs, attributes, keys);
}

Result<std::vector<ValueId>> Gradient(const GradientContext& context) {
  std::vector<ValueId> operands = {context.output_gradients[0]};
  operands.insert(operands.end(), context.inputs.begin(), context.inputs.end());
  TBOOST_ASSIGN_OR_RETURN(const NodeId node,
                          context.graph->AddNode(AttentionGrad(), context.name, std::move(operands),
                                                 *context.attributes));
  std::vector<ValueId> gradients = context.graph->node(node).outputs;
  gradients.push_back(kNone);
  return gradients;
}

Result<KernelCall> Lower(const LowerContext& context) {
  kernels::AttentionArgs args =
      MakeAttentionArgs(context, CheckedAttributes<AttentionAttributes>(*context.attributes));
  const TensorView &k = context.inputs[1], &v = context.inputs[2];
  args.k = Floats(k);
  args.ldk = k.stride();
  args.v = Floats(v);
  args.ldv = v.stride();
  return CallKernel("attention", context.kernels->attention, args);
}

OpCase Case(std::vector<int32_t> lengths, AttentionAttributes a) {
  int64_t tokens = 0;
  for (int32_t n : lengths) tokens += n;
  a.scale = 1 / std::sqrt(static_cast<double>(a.head_dim));
  const int64_t width = a.heads * a.head_dim, kv_width = a.kv_heads * a.head_dim;
  OpCase out = MakeCase(
      fmt::format("lengths {} heads {}/{} of {}{}", fmt::join(lengths, ","), a.heads, a.kv_heads,
                  a.head_dim, a.causal ? " causal" : ""),
      {TensorType({tokens, width}), TensorType({tokens, kv_width}), TensorType({tokens, kv_width}),
       LayoutType(tokens, static_cast<int64_t>(lengths.size()))},
      MakeAttributes(a));
  out.lengths = std::move(lengths);
  out.past.assign(out.lengths.size(), 0);
  return out;
}

std::vector<OpCase> Cases() {
  return {
      Case({1}, {1, 1, 8}),
      Case({3, 5}, {2, 2, 16}),
      Case({70, 1, 33}, {4, 2, 32}),
      Case({9, 4}, {4, 1, 8, 1, true}),
      Case({130}, {2, 1, 64, 1, true}),
      Case({20, 75}, {2, 2, 24, 1, true, 7}),
      Case({6, 11}, {2, 1, 16, 1, true, 0, 5.0}),
  };
}

}  // namespace

const OpRecord& Attention() {
  static const OpRecord record = {
      .name = "attention",
      .doc =
          "y = softmax(scale * q k^T) v for each sequence and head, over the sequence's own "
          "tokens.",
      .inputs = {{"q"}, {"k"}, {"v"}, {"layout", ValueType::Kind::kLayout}},
      .outputs = {"y"},
      .attributes = DescribeAttributes<AttentionAttributes>(),
      .infer = Infer,
      .reference = Reference,
      .cost = CostOfAttention,
      .lower = Lower,
      .gradient = Gradient,
      .cases = Cases,
  };
  return record;
}

}  // namespace tboost::ops
