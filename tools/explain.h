// Where the time of a model goes, by operator.
#pragma once

#include <string>
#include <vector>

#include "src/runtime/executor.h"

namespace tboost {

// A table: operator, kernel, calls' time, share of the whole, GFLOP/s and GB/s.
std::string ExplainTable(const std::vector<StepProfile>& profile);

}  // namespace tboost
