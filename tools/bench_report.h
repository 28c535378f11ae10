// What `tboost bench` prints.
#pragma once

#include <string>

#include "src/base/json.h"
#include "src/profile/limits.h"
#include "tools/bench_cases.h"

namespace tboost {

// One line of JSON on standard output: median, least and largest value; where `limit`, what the
// machine allows in the same unit, is not 0, also that and the share of it reached.
void PrintMeasurement(const std::string& job, int threads, const Measurement& measured,
                      double limit);

// The limits as a table for people, and as one JSON object.
std::string LimitsTable(const Limits& limits);
OrderedJson LimitsJson(const Limits& limits);

}  // namespace tboost
