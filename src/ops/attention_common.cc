#include <cmath>

#include "src/ops/attention.h"
#include "src/ops/cost.h"
#include "src/ops/lowering.h"
#include "src/ops/reference_math.h"
#include "src/ops/shape_rule.h"

namespace tboost::ops {

void CheckAttention(const AttentionAttributes& a, ShapeRule& rule) {
  rule.Count("heads", a.heads).Count("kv_heads", a.kv_heads).Count("head_dim", a.head_dim);
  rule.Require(a.kv_heads > 0 && a.heads % a.kv_heads == 0, "{} heads cannot share {} kv_heads",
               a.heads, a.kv_heads);
  rule.Require(std::isfinite(a.scale), "scale is {}", a.scale);
  rule.Require(a.window >= 0 && a.window <= 1 << 30 && (a.window == 0 || a.causal), "window is {}",
               a.window);
  rule.Require(std::isfinite(a.softcap) && a.softcap >= 0, "softcap is {}", a.softcap);
  if (!rule.ok()) return;
  rule.Set('h', a.heads * a.head_dim).Set('g', a.kv_heads * a.head_dim);
}

void AttendHead(const AttentionAttributes& a, const RefHead& head, double* weights, double* out) {
  const KeyRange seen = VisibleKeys(a.causal, a.window, head.query, head.keys_count);
  for (int64_t j = 0; j < head.keys_count; ++j) {
    double dot = 0;
    for (int64_t d = 0; d < a.head_dim; ++d) dot += head.q[d] * head.keys[j * head.stride + d];
    dot *= a.scale;
    if (a.softcap > 0) dot = a.softcap * std::tanh(dot / a.softcap);
    weights[j] = j >= seen.begin && j < seen.end ? dot : -INFINITY;
  }
  SoftmaxRow(weights, head.keys_count);
  for (int64_t d = 0; d < a.head_dim; ++d) {
    double sum = 0;
    for (int64_t j = seen.begin; j < seen.end; ++j)
      sum += weights[j] * head.values[j * head.stride + d];
    out[d] = sum;
  }
}

Cost AttentionCost(std::span<const TensorView> inputs, std::span<const TensorView> outputs,
                   const Attributes& attributes, double keys) {
  const auto a = CheckedAttributes<AttentionAttributes>(attributes);
  return StreamCost(
      inputs, outputs,
      4 * keys * static_cast<double>(outputs[0].shape.elements()) * (a.causal ? 0.5 : 1));
}

kernels::AttentionArgs MakeAttentionArgs(const LowerContext& context,
                                         const AttentionAttributes& a) {
  const TensorView &q = context.inputs[0], &out = context.outputs[0];
  kernels::AttentionArgs args;
  args.q = Floats(q);
  args.ldq = q.stride();
  args.out = MutableFloats(out);
  args.ldo = out.stride();
  args.heads = static_cast<int>(a.heads);
  args.kv_heads = static_cast<int>(a.kv_heads);
  args.head_dim = static_cast<int>(a.head_dim);
  args.scale = static_cast<float>(a.scale);
  args.softcap = static_cast<float>(a.softcap);
  args.causal = a.causal;
  args.window = static_cast<int>(a.window);
  args.layout = context.layout;
  return args;
}

}  // namespace tboost::ops
