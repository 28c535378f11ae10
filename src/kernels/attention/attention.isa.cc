// Flash attention: online softmax over blocks of kPageTokens keys at absolute positions, in order.
// The chain of a row holds exactly the keys that it sees, so neither the division into tasks nor
// what lies beside those keys in memory can change its bits.
#include "src/kernels/attention/attention_tasks.h"
#include "src/kernels/attention/pack-inl.h"
#include "src/kernels/attention/tile-inl.h"
#include "src/kernels/kernels.h"
#include "src/kernels/simd/math-inl.h"
#include "src/kernels/simd/simd.h"

namespace tboost::kernels::TBOOST_ISA {
namespace {

constexpr int kBlock = kPageTokens;
constexpr int kVectors = kBlock / 16;
constexpr float kMinusInfinity = -__builtin_inff();

inline int Smaller(int a, int b) { return a < b ? a : b; }
inline int Larger(int a, int b) { return a > b ? a : b; }

// One task's state. Row r is query r / group with the group's head r % group.
struct Work {
  const AttentionArgs* args;
  AttentionTask task;
  int64_t group, rows, padded_dim;
  float *q, *out, *sum, *max, *scores, *keys, *values, *zeros;
  int32_t *begin, *end;
};

Work MakeWork(const AttentionArgs& args, int64_t task, Scratch scratch) {
  const AttentionScratch at = LayOutAttentionScratch(args);
  float* base = reinterpret_cast<float*>(scratch.data);
  Work w;
  w.args = &args;
  w.task = LocateAttentionTask(args, task);
  w.group = args.heads / args.kv_heads;
  w.rows = w.task.queries * w.group;
  w.padded_dim = at.padded_dim;
  w.q = base + at.q;
  w.out = base + at.out;
  w.sum = base + at.sum;
  w.max = base + at.max;
  w.begin = reinterpret_cast<int32_t*>(base + at.begin);
  w.end = reinterpret_cast<int32_t*>(base + at.end);
  w.scores = base + at.scores;
  w.keys = base + at.keys;
  w.values = base + at.values;
  w.zeros = base + at.zeros;
  return w;
}

// Where row (query, head of the group) lies in q or out.
inline int64_t RowOffset(const Work& w, int64_t query, int64_t head, int64_t ld) {
  const int64_t token = w.args->layout->offsets[w.task.sequence] + w.task.first_query + query;
  return token * ld + (w.task.kv_head * w.group + head) * w.args->head_dim;
}

// Fills the rows' scaled queries, key ranges and empty state.
void StartRows(const Work& w) {
  const AttentionArgs& args = *w.args;
  const SequenceLayout& layout = *args.layout;
  const int s = w.task.sequence;
  const int past = layout.past[s];
  const int keys = past + layout.offsets[s + 1] - layout.offsets[s];
  for (int64_t query = 0; query < w.task.queries; ++query) {
    const int position = past + static_cast<int>(w.task.first_query + query);
    for (int64_t head = 0; head < w.group; ++head) {
      const int64_t r = query * w.group + head;
      w.end[r] = args.causal ? position + 1 : keys;
      w.begin[r] = args.causal && args.window > 0 ? Larger(0, position + 1 - args.window) : 0;
      w.max[r] = kMinusInfinity;
      const float* q = args.q + RowOffset(w, query, head, args.ldq);
      for (int d = 0; d < args.head_dim; ++d) w.q[r * args.head_dim + d] = q[d] * args.scale;
    }
  }
  for (int64_t i = 0; i < w.rows * w.padded_dim; ++i) w.out[i] = 0;
  for (int64_t i = 0; i < w.rows * 16; ++i) w.sum[i] = 0;
  for (int d = 0; d < args.head_dim; ++d) w.zeros[d] = 0;
}

// Where the keys and values from position `start` on lie: rows of the inputs, or a page, whose keys
// are packed.
struct Source {
  const float *k, *v;
  int64_t ldk, ldv;
};

inline Source FindBlock(const Work& w, int start) {
  const AttentionArgs& args = *w.args;
  const SequenceLayout& layout = *args.layout;
  const int s = w.task.sequence, head = w.task.kv_head;
  if (args.k) {
    const int64_t token = int64_t{layout.offsets[s]} + start;
    const int64_t column = int64_t{head} * args.head_dim;
    return {args.k + token * args.ldk + column, args.v + token * args.ldv + column, args.ldk,
            args.ldv};
  }
  const int64_t page = layout.pages[s * layout.max_pages + start / kBlock];
  return {args.cache.KeyPage(page, head), args.cache.ValuePage(page, head), args.head_dim,
          args.head_dim};
}

// A block that starts at position `start` and of which the rows see no more than `count` keys.
struct Block {
  int start, count;
  const float* keys;    // [kVectors][head_dim][16]
  const float* values;  // [count] rows of padded_dim
};

Block LoadBlock(const Work& w, int start, int count) {
  const AttentionArgs& args = *w.args;
  const Source from = FindBlock(w, start);
  Block block{start, count, from.k, from.v};
  if (args.k) {
    PackKeys(from.k, from.ldk, count, args.head_dim, w.zeros, w.keys);
    block.keys = w.keys;
  }
  if (args.k || w.padded_dim != args.head_dim) {
    PackValues(from.v, from.ldv, count, args.head_dim, w.padded_dim, w.values);
    block.values = w.values;
  }
  return block;
}

// Asks for a share of the block of `count` keys at `start`, that of the row tile at r: the
// processor does not foresee where a block lies.
inline void PrefetchBlock(const Work& w, int start, int count, int64_t r) {
  if (count <= 0) return;
  const Source from = FindBlock(w, start);
  const int64_t last = (r + kTileRows) * kBlock / w.rows;
  for (int64_t key = r * kBlock / w.rows; key < last && key < count; ++key) {
    for (int d = 0; d < w.args->head_dim; d += 16) {
      Prefetch(from.k + key * from.ldk + d);
      Prefetch(from.v + key * from.ldv + d);
    }
  }
}

inline F32x16 SoftCap(F32x16 score, float cap) { return Set1(cap) * Tanh(score * Set1(1 / cap)); }

// Turns a row's scores of a block into weights relative to the new maximum and brings the row's sum
// and output to that maximum. Keys outside [begin, end) get weight 0 whatever their score.
inline void SoftmaxRow(const Work& w, int64_t r, int begin, int end, float* scores) {
  F32x16 s[kVectors];
  for (int i = 0; i < kVectors; ++i) s[i] = Load(scores + i * 16);
  if (w.args->softcap > 0) {
    for (int i = 0; i < kVectors; ++i) s[i] = SoftCap(s[i], w.args->softcap);
  }
  if (begin > 0 || end < kBlock) {
    const F32x16 nothing = Set1(kMinusInfinity);
    for (int i = 0; i < kVectors; ++i) {
      s[i] = Select(FirstLanes(end - i * 16), s[i], nothing);
      s[i] = Select(FirstLanes(begin - i * 16), nothing, s[i]);
    }
  }
  const float block_max = ReduceMax(Max(Max(s[0], s[1]), Max(s[2], s[3])));
  const float old_max = w.max[r];
  const float new_max = block_max > old_max ? block_max : old_max;
  const F32x16 shift = Set1(new_max == kMinusInfinity ? 0 : new_max);
  F32x16 sum = Load(w.sum + r * 16);
  if (new_max != old_max) {
    const F32x16 factor = Exp(Set1(old_max) - shift);
    sum = sum * factor;
    float* out = w.out + r * w.padded_dim;
    for (int64_t d = 0; d < w.padded_dim; d += 16) Store(Load(out + d) * factor, out + d);
    w.max[r] = new_max;
  }
  for (int i = 0; i < kVectors; ++i) {
    s[i] = Exp(s[i] - shift);
    Store(s[i], scores + i * 16);
  }
  Store(sum + ((s[0] + s[1]) + (s[2] + s[3])), w.sum + r * 16);
}

// out += weights . values over the keys [begin, end) of the block, for kRows rows from r on.
template <int kRows>
inline void AddValues(const Work& w, const Block& block, const float* weights, int64_t r, int begin,
                      int end) {
  if (begin >= end) return;
  const TileB values{block.values + begin * w.padded_dim, w.padded_dim, 16, w.padded_dim / 16};
  Tile<kRows>(weights + begin, kBlock, values, end - begin, true, w.out + r * w.padded_dim,
              w.padded_dim);
}

// Takes rows [r, r + kRows) through a block. Keys that all rows see go through the full tile; those
// that only some see, before and behind, row by row.
template <int kRows>
void BlockRows(const Work& w, const Block& block, int64_t r) {
  const int head_dim = w.args->head_dim;
  int begin[kRows], end[kRows];
  int first = kBlock, all_begin = 0, all_end = kBlock, last = 0;
  for (int i = 0; i < kRows; ++i) {
    begin[i] = Larger(w.begin[r + i] - block.start, 0);
    end[i] = Larger(begin[i], Smaller(w.end[r + i] - block.start, block.count));
    if (begin[i] >= end[i]) begin[i] = end[i] = 0;
    first = begin[i] < end[i] ? Smaller(first, begin[i]) : first;
    all_begin = Larger(all_begin, begin[i]);
    all_end = Smaller(all_end, end[i]);
    last = Larger(last, end[i]);
  }
  if (first >= last) return;

  const TileB keys{block.keys, 16, int64_t{head_dim} * 16, (last + 15) / 16};
  Tile<kRows>(w.q + r * head_dim, head_dim, keys, head_dim, false, w.scores, kBlock);
  for (int i = 0; i < kRows; ++i) {
    if (begin[i] < end[i]) SoftmaxRow(w, r + i, begin[i], end[i], w.scores + i * kBlock);
  }
  all_end = Larger(all_begin, all_end);
  for (int i = 0; i < kRows; ++i) {
    AddValues<1>(w, block, w.scores + i * kBlock, r + i, begin[i], Smaller(all_begin, end[i]));
  }
  AddValues<kRows>(w, block, w.scores, r, all_begin, all_end);
  for (int i = 0; i < kRows; ++i) {
    AddValues<1>(w, block, w.scores + i * kBlock, r + i, Larger(all_end, begin[i]), end[i]);
  }
}

// The rows of the task that are left over when full tiles are cut: the right instance of BlockRows.
template <int kRows>
void LastRows(const Work& w, const Block& block, int64_t r) {
  if constexpr (kRows > 0) {
    if (w.rows - r == kRows) return BlockRows<kRows>(w, block, r);
    LastRows<kRows - 1>(w, block, r);
  }
}

void StoreRows(const Work& w) {
  const AttentionArgs& args = *w.args;
  for (int64_t query = 0; query < w.task.queries; ++query) {
    for (int64_t head = 0; head < w.group; ++head) {
      const int64_t r = query * w.group + head;
      const float sum = ReduceAdd(Load(w.sum + r * 16));
      const float inverse = sum == 0 ? 0 : 1 / sum;
      float* out = args.out + RowOffset(w, query, head, args.ldo);
      for (int d = 0; d < args.head_dim; ++d) out[d] = w.out[r * w.padded_dim + d] * inverse;
    }
  }
}

}  // namespace

void attention(const AttentionArgs& args, int64_t task, Scratch scratch) {
  const Work w = MakeWork(args, task, scratch);
  if (w.task.queries == 0) return;
  StartRows(w);
  // Ranges of keys grow with the query: the first row begins first, the last one ends last.
  const int end = w.end[w.rows - 1];
  for (int start = w.begin[0] / kBlock * kBlock; start < end; start += kBlock) {
    const Block block = LoadBlock(w, start, Smaller(kBlock, end - start));
    const int next = start + kBlock, next_count = Smaller(kBlock, end - next);
    int64_t r = 0;
    for (; r + kTileRows <= w.rows; r += kTileRows) {
      PrefetchBlock(w, next, next_count, r);
      BlockRows<kTileRows>(w, block, r);
    }
    if (r < w.rows) PrefetchBlock(w, next, next_count, r);
    LastRows<kTileRows - 1>(w, block, r);
  }
  StoreRows(w);
}

}  // namespace tboost::kernels::TBOOST_ISA
