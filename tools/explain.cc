#include "tools/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace tboost {
namespace {

struct Row {
  std::string op, kernel;
  int nodes = 0;
  double seconds = 0, flops = 0, bytes = 0;
};

std::vector<Row> RowsByOperator(const std::vector<StepProfile>& profile) {
  std::map<std::pair<std::string, std::string>, Row> rows;
  for (const StepProfile& step : profile) {
    if (step.seconds == 0) continue;
    Row& row = rows[{step.op, step.kernel}];
    row.op = step.op;
    row.kernel = step.kernel;
    ++row.nodes;
    row.seconds += step.seconds;
    row.flops += step.cost.flops;
    row.bytes += step.cost.bytes;
  }
  std::vector<Row> sorted;
  for (auto& [key, row] : rows) sorted.push_back(std::move(row));
  std::sort(sorted.begin(), sorted.end(),
            [](const Row& a, const Row& b) { return a.seconds > b.seconds; });
  return sorted;
}

}  // namespace

std::string ExplainTable(const std::vector<StepProfile>& profile) {
  const std::vector<Row> rows = RowsByOperator(profile);
  double total = 0;
  for (const Row& row : rows) total += row.seconds;
  std::string out = fmt::format("{:<20} {:<16} {:>6} {:>10} {:>7} {:>9} {:>8}\n", "operator",
                                "kernel", "nodes", "ms", "share", "GFLOP/s", "GB/s");
  for (const Row& row : rows)
    out += fmt::format("{:<20} {:<16} {:>6} {:>10.2f} {:>5.1f} % {:>9.1f} {:>8.1f}\n", row.op,
                       row.kernel, row.nodes, row.seconds * 1e3, 100 * row.seconds / total,
                       row.flops / row.seconds / 1e9, row.bytes / row.seconds / 1e9);
  return out;
}

}  // namespace tboost
