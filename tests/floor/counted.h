// Counting instructions: .ci/instruction_floor runs this program under callgrind with
// instrumentation off; each region below switches it on and writes its count under a name. Without
// callgrind the regions only run.
#pragma once

#include <valgrind/callgrind.h>

#include <string>

namespace tboost::testing {

// What a count must not depend on: the caches of the machine at hand.
inline constexpr int64_t kFloorL2Bytes = 1 << 20;

// Runs `region` and reports its instructions as `name`, which begins with the instruction set.
template <class F>
void Counted(const std::string& name, F&& region) {
  CALLGRIND_ZERO_STATS;
  CALLGRIND_START_INSTRUMENTATION;
  region();
  CALLGRIND_STOP_INSTRUMENTATION;
  CALLGRIND_DUMP_STATS_AT(name.c_str());
}

}  // namespace tboost::testing
