// Where the time of a model goes, by operator.
#pragma once

#include <string>
#include <vector>

#include "src/profile/limits.h"
#include "src/runtime/executor.h"

namespace tboost {

// The least time that one run of a step can take on this machine: the sum over its calls, each
// bound by its multiplications or by the bytes it moves.
double LeastSeconds(const StepProfile& step, const Limits& limits);

// A table for each step shape. A line is the calls of one operator, kernel and way of running it:
// their time (waiting at the barriers included) and its share, the part spent waiting, GFLOP/s,
// GB/s, the least time possible and the share of that limit reached, and how the kernel runs.
std::string ExplainTables(const std::vector<StepProfile>& steps, const Limits& limits);

}  // namespace tboost
