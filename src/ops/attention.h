// Attention over the tokens of each sequence, and what its variants share.
#pragma once

#include "src/kernels/kernels.h"
#include "src/ops/ops.h"

namespace tboost {
class ShapeRule;
}

namespace tboost::ops {

struct AttentionAttributes {
  int64_t heads = 1, kv_heads = 1, head_dim = 1;
  double scale = 1;
  bool causal = false;
  int64_t window = 0;
  double softcap = 0;
  template <class V>
  void VisitFields(V& v) {
    v("heads", heads, "query heads");
    v("kv_heads", kv_heads, "key/value heads; each serves heads / kv_heads query heads");
    v("head_dim", head_dim, "elements of a head");
    v("scale", scale, "factor of the scores");
    v("causal", causal, "a query sees no later key");
    v("window", window, "a query sees so many keys up to its own; 0: all; causal only");
    v("softcap", softcap, "scores become softcap * tanh(score / softcap); 0: none");
  }
};

// Checks the attributes and binds h = heads * head_dim, g = kv_heads * head_dim.
void CheckAttention(const AttentionAttributes& a, ShapeRule& rule);

// One query head (of double precision) against keys and values [keys, stride] of its head, at
// `query`th place of the keys. `weights` gets the probabilities, one for each key (0 where not
// seen).
struct RefHead {
  const double *q, *keys, *values;
  int64_t stride, keys_count, query;
};
void AttendHead(const AttentionAttributes& a, const RefHead& head, double* weights, double* out);

// Shared by attention and paged_attention: the cost where every token sees `keys` keys.
Cost AttentionCost(std::span<const TensorView> inputs, std::span<const TensorView> outputs,
                   const Attributes& attributes, double keys);
// q is input 0, the result output 0; keys and values are the caller's to set.
kernels::AttentionArgs MakeAttentionArgs(const LowerContext& context, const AttentionAttributes& a);

}  // namespace tboost::ops
