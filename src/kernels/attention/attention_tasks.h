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

// Rows of a strip: queries that go through a block of keys together, in lanes.
inline constexpr int kStripRows = 64;
// Up to so many heads of a single query, keys stand in lanes instead.
inline constexpr int kFewRows = 8;

// A task's scratch memory; offsets in floats, each a multiple of 16.
struct AttentionScratch {
  int64_t q = 0;           // [strips][head_dim][kStripRows], or [rows][head_dim]; scaled
  int64_t out = 0;         // the same, or [rows][padded_dim]; not yet divided by the sum
  int64_t max = 0;         // [rows], or [rows][16]
  int64_t sum = 0;         // likewise
  int64_t old_factor = 0;  // [kStripRows], or [rows][16]: of softmax_block-inl.h
  int64_t new_factor = 0;  // likewise
  int64_t scores = 0;      // [kPageTokens][kStripRows], or [rows][kPageTokens]
  int64_t keys = 0;        // [kPageTokens][head_dim], a block converted to f32
  int64_t values = 0;      // [kPageTokens][padded_dim], likewise
  int64_t panel = 0;       // [head_dim][kPageTokens], keys transposed
  int64_t floats = 0;      // all of it
  int64_t padded_dim = 0;  // head_dim rounded up to a vector
};
AttentionScratch LayOutAttentionScratch(const AttentionArgs& args);

}  // namespace tboost::kernels
