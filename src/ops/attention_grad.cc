#include "src/ops/attention.h"

#include <cmath>

#include "src/ops/cases.h"
#include "src/ops/cost.h"
#include "src/ops/reference_math.h"
#include "src/ops/shape_rule.h"

namespace tboost::ops {
namespace {

// Adds what query `t` of head `h` contributes. `scratch` holds 3 numbers per token and one head.
void HeadGradient(const RefCall& call, const AttentionAttributes& a, const SequenceLayout& layout,
                  int64_t t, int64_t h, double* scratch) {
  const RefTensor &dy = *call.inputs[0].tensor, &q = *call.inputs[1].tensor,
                  &k = *call.inputs[2].tensor, &v = *call.inputs[3].tensor;
  const int32_t s = layout.sequence_of[t], first = layout.offsets[s];
  const int64_t keys = layout.offsets[s + 1] - first, offset = h * a.head_dim,
                shared = h * a.kv_heads / a.heads * a.head_dim;
  double *weights = scratch, *dweights = weights + layout.tokens,
         *dscores = dweights + layout.tokens, *out = dscores + layout.tokens;
  const RefHead head = {
      q.row(t) + offset, k.row(first) + shared, v.row(first) + shared, k.columns(), keys,
      t - first};
  AttendHead(a, head, weights, out);
  const double* dout = dy.row(t) + offset;
  for (int64_t j = 0; j < keys; ++j) {
    dweights[j] = 0;
    for (int64_t d = 0; d < a.head_dim; ++d) {
      dweights[j] += dout[d] * head.values[j * head.stride + d];
      call.outputs[2].row(first + j)[shared + d] += weights[j] * dout[d];
    }
  }
  SoftmaxGradientRow(dweights, weights, keys, dscores);
  for (int64_t j = 0; j < keys; ++j) {
    double dot = 0;
    for (int64_t d = 0; d < a.head_dim; ++d) dot += head.q[d] * head.keys[j * head.stride + d];
    const double capped = a.softcap > 0 ? std::tanh(a.scale * dot / a.softcap) : 0;
    const double ddot = dscores[j] * a.scale * (1 - capped * capped);
    for (int64_t d = 0; d < a.head_dim; ++d) {
      call.outputs[0].row(t)[offset + d] += ddot * head.keys[j * head.stride + d];
      call.outputs[1].row(first + j)[shared + d] += ddot * head.q[d];
    }
  }
}

Result<std::vector<ValueType>> Infer(std::span<const ValueType> inputs,
                                     std::span<const bool> present, const Attributes& attributes) {
  TBOOST_ASSIGN_OR_RETURN(const auto a,
                          ParseAttributes<AttentionAttributes>(attributes, "attention_grad"));
  ShapeRule rule(AttentionGrad(), inputs, present);
  CheckAttention(a, rule);
  rule.Operand(4, "ts").Operand(0, "th").Operand(1, "th").Operand(2, "tg").Operand(3, "tg");
  return rule.Outputs({"th", "tg", "tg"});
}

Status Reference(const RefCall& call) {
  const auto a = CheckedAttributes<AttentionAttributes>(*call.attributes);
  const SequenceLayout& layout = *call.inputs[4].layout;
  std::vector<double> scratch(3 * layout.tokens + a.head_dim);
  for (int64_t t = 0; t < layout.tokens; ++t)
    for (int64_t h = 0; h < a.heads; ++h) HeadGradient(call, a, layout, t, h, scratch.data());
  return OkStatus();
}

Cost CostOfGradient(std::span<const TensorView> inputs, std::span<const TensorView> outputs,
                    const Attributes& attributes) {
  const Shape& layout = inputs[4].shape;
  const double keys = static_cast<double>(layout[0]) / static_cast<double>(layout[1]);
  return AttentionCost(inputs.first(4), outputs, attributes, 2.5 * keys);
}

std::vector<OpCase> Cases() {
  OpCase out = MakeCase("lengths 3,4",
                        {TensorType({7, 8}), TensorType({7, 8}), TensorType({7, 4}),
                         TensorType({7, 4}), LayoutType(7, 2)},
                        MakeAttributes(AttentionAttributes{2, 1, 4, 0.5}));
  out.lengths = {3, 4};
  out.past = {0, 0};
  return {out};
}

}  // namespace

const OpRecord& AttentionGrad() {
  static const OpRecord record = {
      .name = "attention_grad",
      .doc = "The gradients of attention with respect to q, k and v.",
      .inputs = {{"dy"}, {"q"}, {"k"}, {"v"}, {"layout", ValueType::Kind::kLayout}},
      .outputs = {"dq", "dk", "dv"},
      .attributes = DescribeAttributes<AttentionAttributes>(),
      .infer = Infer,
      .reference = Reference,
      .cost = CostOfGradient,
      .cases = Cases,
  };
  return record;
}

}  // namespace tboost::ops
