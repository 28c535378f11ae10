// What a step of a model gets and gives, and the check that its graph keeps within that: kernels
// index memory with what the inputs hold, and a graph from a file is hostile until then.
#pragma once

#include <cstdint>

#include "src/graph/graph.h"

namespace tboost {

// What callers of a step promise.
struct StepContract {
  int64_t vocab_size = 0;      // ids of "input_ids" are below it
  int64_t context_length = 0;  // positions of tokens are below it
  bool generates = false;      // gives "logits" [outputs, vocab_size] and may have kv caches; else
                               // gives "embedding" [sequences, any]
};

// Every input is one that a step fills ("input_ids", "token_type_ids", "output_rows", layouts of
// the step, caches), every table has a row for each index that can reach it, and the output is
// there. kCorrupt, or kUnsupported for an input of another name, and the message names the value.
Status CheckStepContract(const Graph& graph, const StepContract& contract);

}  // namespace tboost
