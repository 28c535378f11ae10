// Flash attention over blocks of kPageTokens keys at absolute positions. A block's softmax and sums
// are its own; blocks are merged in order. The chains of a row hold exactly the keys that it sees,
// so neither the division into tasks nor what lies beside those keys in memory can change its bits.
//
// A row is a query with one of the heads of its group. With many rows these stand in the lanes of
// vectors: keys and values are then read as they lie, and no maximum or sum crosses lanes. One
// query with few heads would leave lanes empty: there keys stand in lanes.
#include "src/kernels/attention/attention_tasks.h"
#include "src/kernels/attention/product-inl.h"
#include "src/kernels/attention/softmax_block-inl.h"
#include "src/kernels/kernels.h"
#include "src/kernels/kv_rows-inl.h"
#include "src/kernels/simd/math-inl.h"
#include "src/kernels/simd/transpose-inl.h"

namespace tboost::kernels::TBOOST_ISA {
namespace {

constexpr int kBlock = kPageTokens;
constexpr float kLog2E = 1.44269504f;

inline int Smaller(int a, int b) { return a < b ? a : b; }
inline int64_t Smaller64(int64_t a, int64_t b) { return a < b ? a : b; }
inline int Larger(int a, int b) { return a > b ? a : b; }

// One task's state. Row r is query r / group with the group's head r % group. Rows in lanes stand
// in strips of kStripRows, row r in lane r % kStripRows of strip r / kStripRows, the last strip
// filled up with copies of the last row.
struct Work {
  const AttentionArgs* args;
  AttentionTask task;
  int64_t group, rows, padded_dim;
  int past, keys_count;  // positions of the task's first query's sequence
  float *q, *out, *max, *sum, *old_factor, *new_factor, *scores, *keys, *values, *panel;
};

Work MakeWork(const AttentionArgs& args, int64_t task, Scratch scratch) {
  const AttentionScratch at = LayOutAttentionScratch(args);
  float* base = reinterpret_cast<float*>(scratch.data);
  const SequenceLayout& layout = *args.layout;
  Work w;
  w.args = &args;
  w.task = LocateAttentionTask(args, task);
  w.group = args.heads / args.kv_heads;
  w.rows = w.task.queries * w.group;
  w.padded_dim = at.padded_dim;
  const int s = w.task.sequence;
  w.past = layout.past[s];
  w.keys_count = w.past + layout.offsets[s + 1] - layout.offsets[s];
  w.q = base + at.q;
  w.out = base + at.out;
  w.max = base + at.max;
  w.sum = base + at.sum;
  w.old_factor = base + at.old_factor;
  w.new_factor = base + at.new_factor;
  w.scores = base + at.scores;
  w.keys = base + at.keys;
  w.values = base + at.values;
  w.panel = base + at.panel;
  return w;
}

// Where row r lies in q or out.
inline int64_t RowOffset(const Work& w, int64_t r, int64_t ld) {
  const int64_t query = r / w.group, head = r % w.group;
  const int64_t token = w.args->layout->offsets[w.task.sequence] + w.task.first_query + query;
  return token * ld + (w.task.kv_head * w.group + head) * w.args->head_dim;
}

// The keys [begin, end) that row r sees.
struct KeyRange {
  int begin, end;
};
inline KeyRange SeenBy(const Work& w, int64_t r) {
  if (!w.args->causal) return {0, w.keys_count};
  const int end = w.past + static_cast<int>(w.task.first_query + r / w.group) + 1;
  return {w.args->window > 0 ? Larger(0, end - w.args->window) : 0, end};
}

// Scores are taken to base 2, or to the scale of the tanh where there is a soft cap.
inline float QueryScale(const AttentionArgs& args) {
  return args.softcap > 0 ? args.scale / args.softcap : args.scale * kLog2E;
}

inline SoftmaxState StateOf(const Work& w, int64_t vector, int64_t factor) {
  return {w.max + vector * 16, w.sum + vector * 16, w.old_factor + factor * 16,
          w.new_factor + factor * 16};
}

// Of the `rows` from `row` on in max and sum, and of `out_floats` from `out` on in out.
void ClearState(const Work& w, int64_t row, int64_t rows, int64_t out, int64_t out_floats) {
  for (int64_t i = row; i < row + rows; i += 16) {
    Store(Set1(kMinusInfinity), w.max + i);
    Store(Zero(), w.sum + i);
  }
  for (int64_t i = out; i < out + out_floats; i += 16) Store(Zero(), w.out + i);
}

void CapScores(const AttentionArgs& args, float* scores, int64_t floats) {
  for (int64_t i = 0; i < floats; i += 16) {
    Store(Tanh(Load(scores + i)) * Set1(args.softcap * kLog2E), scores + i);
  }
}

enum Part { kKeys, kValues };

KvRows CachedRows(const Work& w, Part part, int start) {
  const KvCacheView& cache = w.args->cache;
  const int64_t page = w.args->layout->PageOf(w.task.sequence, start);
  return part == kKeys ? cache.Keys(page, w.task.kv_head) : cache.Values(page, w.task.kv_head);
}

struct Rows {  // of f32
  const float* data;
  int64_t ld;
};
// A block of keys, of which `count` are looked at.
struct Block {
  int start, count;
  bool first, last;  // of its task
  int next_count;    // of the block behind it
  Rows keys, values;
};

// The block at `start` of a task that sees the keys [begin, end), not yet loaded.
Block MakeBlock(int start, int begin, int end) {
  const int left = end - start;
  return {start,
          Smaller(kBlock, left),
          start <= begin,
          left <= kBlock,
          Smaller(kBlock, left - kBlock),
          {},
          {}};
}

// The rows of `count` keys from position `start` on, as they lie.
Ahead Locate(const Work& w, Part part, int start, int count) {
  const AttentionArgs& args = *w.args;
  Ahead rows;
  rows.rows = Larger(count, 0);
  if (args.k) {
    const int64_t token = int64_t{args.layout->offsets[w.task.sequence]} + start;
    const int64_t ld = part == kKeys ? args.ldk : args.ldv;
    const float* base = part == kKeys ? args.k : args.v;
    rows.data =
        reinterpret_cast<const char*>(base + token * ld + int64_t{w.task.kv_head} * args.head_dim);
    rows.stride = ld * static_cast<int64_t>(sizeof(float));
    rows.bytes = args.head_dim * static_cast<int64_t>(sizeof(float));
  } else if (rows.rows > 0) {
    const KvRows in_cache = CachedRows(w, part, start);
    rows.data = reinterpret_cast<const char*>(in_cache.data);
    rows.bytes = rows.stride = in_cache.RowBytes();
  }
  return rows;
}

// The same as f32, each row up to a multiple of 16 where `pad` says so (with zeros).
Rows LoadRows(const Work& w, Part part, int start, int count, bool pad) {
  const AttentionArgs& args = *w.args;
  const int head_dim = args.head_dim;
  float* const buffer = part == kKeys ? w.keys : w.values;
  const Rows loaded = {buffer, pad ? w.padded_dim : head_dim};
  if (args.k) {
    // Products take a number of each row in turn: in rows far apart that would thrash the cache.
    const Ahead rows = Locate(w, part, start, count);
    for (int key = 0; key < count; ++key) {
      WidenRow(reinterpret_cast<const float*>(rows.data + key * rows.stride), head_dim,
               buffer + key * loaded.ld,
               [](const float* p) TBOOST_INLINE_LAMBDA { return Load(p); });
    }
    return loaded;
  }
  const KvRows rows = CachedRows(w, part, start);
  if (args.cache.dtype == DType::kF32 && loaded.ld == head_dim) {
    return {rows.row<float>(0), head_dim};
  }
  for (int key = 0; key < count; ++key) LoadKvRow(rows, key, buffer + key * loaded.ld);
  return loaded;
}

// ---- Rows in lanes ----

inline int64_t StripVectors(const Work& w, int64_t strip) {
  const int64_t left = (w.rows - strip * kStripRows + 15) / 16;
  return left < kStripRows / 16 ? left : kStripRows / 16;
}

// Where the 16 rows of a vector lie in q or out: one division for all of them.
template <class T>
TBOOST_INLINE void LocateRows(const Work& w, int64_t vector, T* base, int64_t ld, T* rows[16]) {
  const int64_t first = vector * 16, head_dim = w.args->head_dim;
  int64_t head = first % w.group;
  T* row = base + RowOffset(w, first, ld);
  for (int i = 0; i < 16; ++i) {
    rows[i] = row;
    if (first + i + 1 >= w.rows) continue;
    const bool next_query = ++head == w.group;
    row += next_query ? ld - (w.group - 1) * head_dim : head_dim;
    if (next_query) head = 0;
  }
}

// Where the rows of a strip lie in q or out: those of all heads of a query side by side.
Ahead LocateStrip(const Work& w, int64_t strip, const float* base, int64_t ld) {
  const int64_t first = strip * kStripRows / w.group * w.group;
  const int64_t end = Smaller64(w.rows, (strip + 1) * kStripRows);
  Ahead rows;
  rows.data = reinterpret_cast<const char*>(base + RowOffset(w, first, ld));
  rows.rows = (end - first + w.group - 1) / w.group;
  rows.stride = ld * static_cast<int64_t>(sizeof(float));
  rows.bytes = w.group * w.args->head_dim * static_cast<int64_t>(sizeof(float));
  return rows;
}

// q of a strip as [head_dim][kStripRows], scaled, and no result yet.
void StartStrip(const Work& w, int64_t strip) {
  const AttentionArgs& args = *w.args;
  const int head_dim = args.head_dim;
  const float scale = QueryScale(args);
  const int64_t first = strip * kStripRows / 16;
  float* const strip_q = w.q + strip * head_dim * kStripRows;
  for (int64_t v = 0; v < StripVectors(w, strip); ++v) {
    const float* rows[16];
    LocateRows(w, first + v, args.q, args.ldq, rows);
    float* const q = strip_q + v * 16;
    Transpose16(
        rows, head_dim, [=](int64_t, auto x) TBOOST_INLINE_LAMBDA { return x * scale; },
        [=](int64_t d) TBOOST_INLINE_LAMBDA { return q + d * kStripRows; });
  }
  ClearState(w, first * 16, kStripRows, strip * head_dim * kStripRows, kStripRows * head_dim);
}

// The keys of a block that some row of the vectors [first, last) sees, [begin, end), and those
// that every row sees, [all_begin, all_end).
struct BlockRange {
  int begin, end, all_begin, all_end;
  bool whole() const { return all_begin == begin && all_end == end; }
};
inline BlockRange RangeOf(const Work& w, const Block& block, int64_t first, int64_t last) {
  // Ranges of rows grow with the row.
  const KeyRange low = SeenBy(w, first * 16);
  const KeyRange high = SeenBy(w, last * 16 < w.rows ? last * 16 - 1 : w.rows - 1);
  BlockRange range;
  range.begin = Larger(0, low.begin - block.start);
  range.end = Larger(range.begin, Smaller(high.end - block.start, block.count));
  range.all_begin = Larger(range.begin, Smaller(high.begin - block.start, range.end));
  range.all_end = Larger(range.all_begin, Smaller(low.end - block.start, range.end));
  return range;
}

// Which of the keys from range.begin on the lanes of one vector see.
struct LaneMask {
  float begin[16], end[16];
};

void HideScores(const Work& w, const Block& block, const BlockRange& range, int64_t vector,
                LaneMask& mask, float* scores) {
  for (int i = 0; i < 16; ++i) {
    const int64_t r = vector * 16 + i < w.rows ? vector * 16 + i : w.rows - 1;
    const KeyRange seen = SeenBy(w, r);
    const int base = block.start + range.begin;
    mask.begin[i] = static_cast<float>(Larger(seen.begin - base, 0));
    mask.end[i] = static_cast<float>(Smaller(seen.end - base, kBlock));
  }
  const F32x16 begin = Load(mask.begin), end = Load(mask.end);
  for (int key = range.begin; key < range.end; ++key) {
    if (key == range.all_begin) key = range.all_end;
    if (key == range.end) break;
    const F32x16 step = Set1(static_cast<float>(key - range.begin));
    float* const s = scores + key * kStripRows;
    Store(Select(LessEqual(begin, step) & Less(step, end), Load(s), Set1(kMinusInfinity)), s);
  }
}

// What is needed next when a strip has gone through a block.
Ahead AfterStrip(const Work& w, const Block& block, int64_t strip) {
  if (block.last) return LocateStrip(w, strip, w.args->out, w.args->ldo);
  if ((strip + 1) * kStripRows >= w.rows) {
    return Locate(w, kKeys, block.start + kBlock, block.next_count);
  }
  return block.first ? LocateStrip(w, strip + 1, w.args->q, w.args->ldq) : Ahead();
}

// Takes the vectors [first, last) of one strip through a block, of whose keys they see `range`.
void LanesThrough(const Work& w, Block& block, const BlockRange& range, int64_t first,
                  int64_t last) {
  const int head_dim = w.args->head_dim, keys = range.end - range.begin;
  const int64_t strip = first * 16 / kStripRows, lane = first * 16 % kStripRows;
  float* const scores = w.scores + lane;
  float* const seen_scores = scores + range.begin * kStripRows;
  Product product = {};
  product.a = block.keys.data + range.begin * block.keys.ld;
  product.a_row = block.keys.ld;
  product.a_step = 1;
  product.b = w.q + strip * head_dim * kStripRows + lane;
  product.ldb = product.ldc = kStripRows;
  product.steps = head_dim;
  product.c = seen_scores;
  if (!block.values.data) product.ahead = Locate(w, kValues, block.start, block.count);
  Multiply(product, keys, last - first);
  if (w.args->softcap > 0) CapScores(*w.args, w.scores, int64_t{kBlock} * kStripRows);

  LaneMask mask;
  if (!range.whole()) HideScores(w, block, range, first, mask, scores);
  SoftmaxLanes(StateOf(w, first, 0), scores, kStripRows, last - first, range.begin, range.end,
               block.first);

  if (!block.values.data) block.values = LoadRows(w, kValues, block.start, block.count, false);
  product.a = block.values.data + range.begin * block.values.ld;
  product.a_row = 1;
  product.a_step = block.values.ld;
  product.b = seen_scores;
  product.steps = keys;
  product.c = w.out + strip * head_dim * kStripRows + lane;
  product.ahead = lane == 0 ? AfterStrip(w, block, strip) : Ahead();
  if (!block.first) {
    product.old_factor = w.old_factor;
    product.new_factor = w.new_factor;
    product.factor_vector = 16;
  }
  if (range.whole()) return Multiply(product, head_dim, last - first);
  product.begin = mask.begin;
  product.end = mask.end;
  product.all_begin = range.all_begin - range.begin;
  product.all_end = range.all_end - range.begin;
  Multiply<true>(product, head_dim, 1);
}

void StripThrough(const Work& w, Block& block, int64_t strip) {
  const int64_t first = strip * kStripRows / 16, last = first + StripVectors(w, strip);
  const BlockRange range = RangeOf(w, block, first, last);
  if (range.begin == range.end) return;
  if (range.whole()) return LanesThrough(w, block, range, first, last);
  for (int64_t v = first; v < last; ++v) {  // each as far as it sees
    const BlockRange own = RangeOf(w, block, v, v + 1);
    if (own.begin < own.end) LanesThrough(w, block, own, v, v + 1);
  }
}

inline F32x16 Inverse(F32x16 sum) {  // 0 of a row that saw nothing
  return Select(Equal(sum, Zero()), Zero(), Set1(1) / sum);
}

// To out + 0: no row ends in -0, whatever was merged into it.
void StoreStrip(const Work& w, int64_t strip) {
  const int head_dim = w.args->head_dim;
  const int64_t first = strip * kStripRows / 16;
  for (int64_t vector = first; vector < first + StripVectors(w, strip); ++vector) {
    const float* from = w.out + strip * head_dim * kStripRows + vector * 16 % kStripRows;
    float inverse[16], *out[16];
    Store(Inverse(Load(w.sum + vector * 16)), inverse);
    LocateRows(w, vector, w.args->out, w.args->ldo, out);
    for (int d = 0; d < head_dim; d += 16) {
      const int left = Smaller(16, head_dim - d);
      const float* rows[16];
      for (int i = 0; i < 16; ++i) rows[i] = from + (d + Smaller(i, left - 1)) * kStripRows;
      float* to[16];
      for (int i = 0; i < 16; ++i) {
        const bool here = left == 16 && vector * 16 + i < w.rows;
        to[i] = here ? out[i] + d : w.panel + i * 16;
      }
      Transpose16(
          rows, 16, [&](int64_t i, auto x) TBOOST_INLINE_LAMBDA { return x * inverse[i] + 0.0f; },
          [&](int64_t i) TBOOST_INLINE_LAMBDA { return to[i]; });
      if (left == 16) continue;
      for (int64_t i = 0; i < 16 && vector * 16 + i < w.rows; ++i) {
        StorePartial(Load(w.panel + i * 16), out[i] + d, left);
      }
    }
  }
}

void AttendInLanes(const Work& w) {
  const int begin = SeenBy(w, 0).begin, end = SeenBy(w, w.rows - 1).end;
  LocateStrip(w, 0, w.args->q, w.args->ldq).TouchAll();
  for (int start = begin / kBlock * kBlock; start < end; start += kBlock) {
    Block block = MakeBlock(start, begin, end);
    if (block.first) Locate(w, kKeys, start, block.count).TouchAll();
    for (int64_t strip = 0; strip * kStripRows < w.rows; ++strip) {
      if (block.first) StartStrip(w, strip);
      if (strip == 0) block.keys = LoadRows(w, kKeys, start, block.count, false);
      StripThrough(w, block, strip);
      if (block.last) StoreStrip(w, strip);
    }
  }
}

// ---- Keys in lanes: the heads of one query ----

void StartRows(const Work& w) {
  const int head_dim = w.args->head_dim;
  const float scale = QueryScale(*w.args);
  for (int64_t r = 0; r < w.rows; ++r) {
    const float* q = w.args->q + RowOffset(w, r, w.args->ldq);
    for (int d = 0; d < head_dim; ++d) w.q[r * head_dim + d] = q[d] * scale;
  }
  ClearState(w, 0, w.rows * 16, 0, w.rows * w.padded_dim);
}

void RowsThrough(const Work& w, const Block& block, int begin) {
  const int head_dim = w.args->head_dim, groups = (block.count + 15) / 16;
  const Ahead next_keys = Locate(w, kKeys, block.start + kBlock, block.next_count);
  const Ahead next_values = Locate(w, kValues, block.start + kBlock, block.next_count);
  for (int g = 0; g < groups; ++g) {
    const float* rows[16];
    for (int i = 0; i < 16; ++i) {
      rows[i] = block.keys.data + Smaller(g * 16 + i, block.count - 1) * block.keys.ld;
      next_keys.Touch(g * 16 + i);
    }
    Transpose16(
        rows, head_dim, [](int64_t, auto x) TBOOST_INLINE_LAMBDA { return x; },
        [&](int64_t d) TBOOST_INLINE_LAMBDA { return w.panel + d * kBlock + g * 16; });
  }
  Product product = {};
  product.a = w.q;
  product.a_row = head_dim;
  product.a_step = 1;
  product.b = w.panel;
  product.ldb = product.ldc = kBlock;
  product.steps = head_dim;
  product.c = w.scores;
  Multiply(product, w.rows, groups);
  next_values.TouchAll();
  if (w.args->softcap > 0) CapScores(*w.args, w.scores, w.rows * kBlock);
  for (int64_t r = 0; r < w.rows; ++r) {
    SoftmaxRow(StateOf(w, r, r), w.scores + r * kBlock, begin, block.count);
  }
  product.a = w.scores + begin;
  product.a_row = kBlock;
  product.b = block.values.data + begin * block.values.ld;
  product.ldb = block.values.ld;
  product.steps = block.count - begin;
  product.c = w.out;
  product.ldc = w.padded_dim;
  product.old_factor = w.old_factor;
  product.new_factor = w.new_factor;
  product.factor_row = 16;
  Multiply(product, w.rows, w.padded_dim / 16);
}

void StoreRows(const Work& w) {
  const int head_dim = w.args->head_dim;
  for (int64_t r = 0; r < w.rows; ++r) {
    const F32x16 inverse = Inverse(Load(w.sum + r * 16));
    const float* from = w.out + r * w.padded_dim;
    ForVectors(head_dim, [&](int64_t d, auto span) TBOOST_INLINE_LAMBDA {
      float* const out = w.args->out + RowOffset(w, r, w.args->ldo) + d;
      span.StoreTo(Load(from + d) * inverse + Zero(), out);
    });
  }
}

void AttendInRows(const Work& w) {
  StartRows(w);
  const KeyRange seen = SeenBy(w, 0);
  for (int start = seen.begin / kBlock * kBlock; start < seen.end; start += kBlock) {
    Block block = MakeBlock(start, seen.begin, seen.end);
    block.keys = LoadRows(w, kKeys, start, block.count, false);
    block.values = LoadRows(w, kValues, start, block.count, true);
    RowsThrough(w, block, Larger(0, seen.begin - start));
  }
  StoreRows(w);
}

}  // namespace

void attention(const AttentionArgs& args, int64_t task, Scratch scratch) {
  const Work w = MakeWork(args, task, scratch);
  if (w.task.queries == 0) return;
  if (w.task.queries == 1 && w.group <= kFewRows) {
    AttendInRows(w);
  } else {
    AttendInLanes(w);
  }
}

}  // namespace tboost::kernels::TBOOST_ISA
