// How attention is cut into tasks: a task is some consecutive queries of one sequence, with all
// query heads that share one key/value head. The division never changes results.
#pragma once

#include <cstddef>
#include <cstdint>

#include "src/kernels/kernels.h"

namespace tboost::kernels {

struct AttentionTask {
  int sequence = 0;
  int kv_head = 0;
  int64_t first_query = 0;  // within the sequence's tokens of this step
  int64_t queries = 0;      // 0: this task has nothing to do
};

AttentionTask LocateAttentionTask(const AttentionArgs& args, int64_t task);

// The most rows (queries times the heads of a group) a task can have.
int64_t AttentionRows(const AttentionArgs& args);

// A task's scratch memory; offsets in floats, each a multiple of 16.
struct AttentionScratch {
  int64_t q = 0;       // [rows][head_dim], scaled
  int64_t out = 0;     // [rows][padded_dim], not yet divided by the sum
  int64_t sum = 0;     // [rows][16], partial sums of the weights
  int64_t max = 0;     // [rows]
  int64_t begin = 0;   // [rows] int32: the first key a row sees
  int64_t end = 0;     // [rows] int32: the key after the last one
  int64_t scores = 0;  // [kAttentionTileRows][kPageTokens]
  int64_t keys = 0;    // [kPageTokens / 16][head_dim][16], a packed block
  int64_t values = 0;  // [kPageTokens][padded_dim]
  int64_t zeros = 0;   // [head_dim], stands for keys past the end while packing
  int64_t floats = 0;  // all of it
  int64_t padded_dim = 0;
};
AttentionScratch LayOutAttentionScratch(const AttentionArgs& args);

// The most rows of a register tile on any instruction set.
inline constexpr int kAttentionTileRows = 8;

}  // namespace tboost::kernels
