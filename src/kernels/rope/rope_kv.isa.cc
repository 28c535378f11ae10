// Rotary positions, the norms of query and key heads, and the store of keys and values.
#include "src/kernels/kernels.h"
#include "src/kernels/kv_rows-inl.h"
#include "src/kernels/norm/norm-inl.h"
#include "src/kernels/rows.h"
#include "src/kernels/simd/span-inl.h"

namespace tboost::kernels::TBOOST_ISA {
namespace {

// Rotates the pairs (i, i + pairs) of x by the angles whose cosines come first, then the sines.
void Rotate(const float* angles, int64_t pairs, const float* x, float* out) {
  const float* sines = angles + pairs;
  ForVectors(pairs, [&](int64_t i, auto span) TBOOST_INLINE_LAMBDA {
    const F32x16 cosine = span.LoadFrom(angles + i), sine = span.LoadFrom(sines + i);
    const F32x16 a = span.LoadFrom(x + i), b = span.LoadFrom(x + pairs + i);
    span.StoreTo(a * cosine - b * sine, out + i);
    span.StoreTo(b * cosine + a * sine, out + pairs + i);
  });
}

// One head of one token; out may be x.
void NormAndRotate(const RopeKvArgs& args, const float* gamma, int64_t token, const float* x,
                   float* out) {
  if (gamma) {
    const RowStatistics row = Statistics(NormKind::kRms, args.eps, x, args.head_dim);
    Normalize(row, gamma, nullptr, x, args.head_dim, out);
    x = out;
  }
  const int rotated = args.angles ? args.rotary_dim : 0;
  const int64_t ldangles = args.ldangles ? args.ldangles : rotated;
  if (rotated) Rotate(args.angles + token * ldangles, rotated / 2, x, out);
  if (x == out) return;
  ForVectors(args.head_dim - rotated, [&](int64_t d, auto span) TBOOST_INLINE_LAMBDA {
    span.StoreTo(span.LoadFrom(x + rotated + d), out + rotated + d);
  });
}

// The key and the value of one head of one token, to the cache where there is one.
void Keep(const RopeKvArgs& args, int64_t token, int head, Scratch scratch) {
  const int64_t offset = int64_t{head} * args.head_dim;
  const float* k = args.k ? args.k + token * args.ldk + offset : nullptr;
  if (!args.cache.base)
    return NormAndRotate(args, args.k_gamma, token, k, args.k_out + token * args.ldk_out + offset);
  const int32_t position = args.layout->Position(token), slot = position % kPageTokens;
  const int64_t page = args.layout->PageOf(args.layout->sequence_of[token], position);
  if (k) {
    const KvRows keys = args.cache.Keys(page, head);
    const bool in_place = keys.dtype == DType::kF32;
    float* const key = in_place ? keys.row<float>(slot) : reinterpret_cast<float*>(scratch.data);
    NormAndRotate(args, args.k_gamma, token, k, key);
    StoreKvRow(keys, slot, key);
  }
  if (args.v) {
    StoreKvRow(args.cache.Values(page, head), slot, args.v + token * args.ldv + offset);
  }
}

}  // namespace

void rope_kv(const RopeKvArgs& args, int64_t task, Scratch scratch) {
  const RowRange tokens = RowsOfTask(task, args.tokens - args.first_token,
                                     int64_t{args.heads + 2 * args.kv_heads} * args.head_dim);
  for (int64_t i = tokens.first; i < tokens.end; ++i) {
    const int64_t token = args.first_token + i;
    for (int head = 0; head < args.heads; ++head) {
      const int64_t offset = int64_t{head} * args.head_dim;
      NormAndRotate(args, args.q_gamma, token, args.q + token * args.ldq + offset,
                    args.q_out + token * args.ldq_out + offset);
    }
    for (int head = 0; head < args.kv_heads; ++head) Keep(args, token, head, scratch);
  }
}

}  // namespace tboost::kernels::TBOOST_ISA
