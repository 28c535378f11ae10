// Where the time of steps goes.
#pragma once

#include <string>
#include <vector>

#include "src/graph/op_record.h"
#include "src/plan/program.h"

namespace tboost {

// One kernel call of a step. Times are worker 0's, summed over the runs that were measured: a call
// lasts from its first task to the end of the barrier behind it, where there is one.
struct CallProfile {
  std::string name, op, kernel, detail;
  DType compute = DType::kF32;
  double seconds = 0;
  double waiting = 0;         // of those, at the barrier: for the others' last tasks
  Cost cost;                  // of one run
  double constant_bytes = 0;  // of the cost's bytes, those of weights
  TileHint tile;              // of a product whose tile was chosen
};

// The runs of one step shape.
struct StepProfile {
  StepShape shape;
  int64_t runs = 0;
  int64_t barriers = 0;  // passed in all runs, the end of each included
  double seconds = 0;    // of all runs, from the first call to the last barrier
  std::vector<CallProfile> calls;
};

}  // namespace tboost
