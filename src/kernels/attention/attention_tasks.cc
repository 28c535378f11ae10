#include "src/kernels/attention/attention_tasks.h"

#include <algorithm>

namespace tboost::kernels {
namespace {

constexpr int64_t kMaxRows = 256;  // amortises the packing of a key block
constexpr int64_t kMinRows = 32;
constexpr int64_t kEnoughTasks = 16;

int64_t RoundUp16(int64_t n) { return (n + 15) / 16 * 16; }

int64_t Group(const AttentionArgs& args) { return args.heads / args.kv_heads; }

// Sequence s owns the slots from offsets[s] / tile + s on: ceil(length / tile) of them or one more,
// which stays empty. So a task is found without a table.
int64_t FirstSlot(const SequenceLayout& layout, int s, int64_t tile) {
  return layout.offsets[s] / tile + s;
}

int64_t CountTasks(const AttentionArgs& args, int64_t tile) {
  return FirstSlot(*args.layout, args.layout->sequences, tile) * args.kv_heads;
}

// Queries per task: fewer where there would be too few tasks to share out.
int64_t TileQueries(const AttentionArgs& args) {
  const auto tile = [&](int64_t rows) {
    return rows > Group(args) ? rows / Group(args) : int64_t{1};
  };
  int64_t rows = kMaxRows;
  while (rows > kMinRows && CountTasks(args, tile(rows)) < kEnoughTasks) rows /= 2;
  return tile(rows);
}

}  // namespace

int64_t Tasks(const AttentionArgs& args) { return CountTasks(args, TileQueries(args)); }

size_t ScratchBytes(const AttentionArgs& args) {
  return static_cast<size_t>(LayOutAttentionScratch(args).floats) * sizeof(float);
}

AttentionTask LocateAttentionTask(const AttentionArgs& args, int64_t task) {
  const SequenceLayout& layout = *args.layout;
  const int64_t tile = TileQueries(args);
  // One head after the other, so that its keys and values stay in cache; and the last queries,
  // which see the most keys where causal, first, so that the tasks that end a call are short.
  const int64_t slots = FirstSlot(layout, layout.sequences, tile);
  const int64_t slot = slots - 1 - task % slots;
  int low = 0, high = layout.sequences;
  while (high - low > 1) {
    const int middle = low + (high - low) / 2;
    (FirstSlot(layout, middle, tile) <= slot ? low : high) = middle;
  }
  AttentionTask found;
  found.sequence = low;
  found.kv_head = static_cast<int>(task / slots);
  found.first_query = (slot - FirstSlot(layout, low, tile)) * tile;
  const int64_t left = layout.offsets[low + 1] - layout.offsets[low] - found.first_query;
  found.queries = left <= 0 ? 0 : left < tile ? left : tile;
  return found;
}

int64_t AttentionRows(const AttentionArgs& args) { return TileQueries(args) * Group(args); }

AttentionScratch LayOutAttentionScratch(const AttentionArgs& args) {
  const int64_t rows = (AttentionRows(args) + kStripRows - 1) / kStripRows * kStripRows;
  AttentionScratch scratch;
  scratch.padded_dim = RoundUp16(args.head_dim);
  const auto take = [&](int64_t floats) {
    const int64_t offset = scratch.floats;
    scratch.floats += RoundUp16(floats);
    return offset;
  };
  constexpr int64_t kFewLanes = kFewRows * 16;
  scratch.q = take(rows * args.head_dim);
  scratch.out = take(rows * scratch.padded_dim);
  scratch.max = take(std::max(rows, kFewLanes));
  scratch.sum = take(std::max(rows, kFewLanes));
  scratch.old_factor = take(kFewLanes);
  scratch.new_factor = take(kFewLanes);
  scratch.scores = take(int64_t{kPageTokens} * kStripRows);
  // The last row may be written up to a whole vector.
  scratch.keys = take(kPageTokens * int64_t{args.head_dim} + 16);
  scratch.values = take(kPageTokens * scratch.padded_dim);
  scratch.panel = take(kPageTokens * std::max<int64_t>(args.head_dim, 16));
  return scratch;
}

}  // namespace tboost::kernels
