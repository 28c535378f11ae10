#include "tools/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace tboost {
namespace {

// Calls of one kind; times in seconds of one run.
struct Row {
  std::string op, kernel, detail;
  int calls = 0;
  double seconds = 0, waiting = 0, least = 0, flops = 0, bytes = 0;
};

// Bytes of weights that one run reads: what decides from which cache they come.
double ConstantBytes(const StepProfile& step) {
  double bytes = 0;
  for (const CallProfile& call : step.calls) bytes += call.constant_bytes;
  return bytes;
}

double LeastSeconds(const CallProfile& call, double constants_of_model, const Limits& limits) {
  return limits.LeastSeconds(call.compute, call.cost.flops, call.constant_bytes, constants_of_model,
                             call.cost.bytes - call.constant_bytes);
}

void Add(const Row& from, Row& to) {
  to.calls += from.calls;
  to.seconds += from.seconds;
  to.waiting += from.waiting;
  to.least += from.least;
  to.flops += from.flops;
  to.bytes += from.bytes;
}

// The slowest first.
std::vector<Row> RowsByOperator(const StepProfile& step, const Limits& limits) {
  const double constants = ConstantBytes(step), runs = static_cast<double>(step.runs);
  std::map<std::tuple<std::string, std::string, std::string>, Row> rows;
  for (const CallProfile& call : step.calls) {
    Row& row = rows[{call.op, call.kernel, call.detail}];
    row.op = call.op;
    row.kernel = call.kernel;
    row.detail = call.detail;
    Add({{},
         {},
         {},
         1,
         call.seconds / runs,
         call.waiting / runs,
         LeastSeconds(call, constants, limits),
         call.cost.flops,
         call.cost.bytes},
        row);
  }
  std::vector<Row> sorted;
  for (auto& [key, row] : rows) sorted.push_back(std::move(row));
  std::sort(sorted.begin(), sorted.end(),
            [](const Row& a, const Row& b) { return a.seconds > b.seconds; });
  return sorted;
}

std::string Line(const Row& row, double total) {
  return fmt::format(
      "{:<20} {:<13} {:>5} {:>9.3f} {:>5.1f} % {:>5.1f} % {:>8.1f} {:>7.1f} {:>9.3f} {:>6.1f} %  "
      "{}\n",
      row.op, row.kernel, row.calls, row.seconds * 1e3, 100 * row.seconds / total,
      100 * row.waiting / row.seconds, row.flops / row.seconds / 1e9, row.bytes / row.seconds / 1e9,
      row.least * 1e3, 100 * row.least / row.seconds, row.detail);
}

std::string ExplainTable(const StepProfile& step, const Limits& limits) {
  const double seconds = step.seconds / static_cast<double>(step.runs);
  const double barriers = static_cast<double>(step.barriers) / static_cast<double>(step.runs);
  std::string out = fmt::format(
      "step of {} tokens in {} sequences, {} outputs: {} runs of {:.3f} ms; {:.0f} barriers of "
      "{:.2f} us are {:.2f} % of it\n",
      step.shape.tokens, step.shape.sequences, step.shape.outputs, step.runs, seconds * 1e3,
      barriers, limits.barrier_seconds * 1e6, 100 * barriers * limits.barrier_seconds / seconds);
  out += fmt::format("{:<20} {:<13} {:>5} {:>9} {:>7} {:>7} {:>8} {:>7} {:>9} {:>8}  {}\n",
                     "operator", "kernel", "calls", "ms", "share", "waiting", "GFLOP/s", "GB/s",
                     "limit ms", "of limit", "how");
  Row all;
  all.op = "all";
  const std::vector<Row> rows = RowsByOperator(step, limits);
  for (const Row& row : rows) Add(row, all);
  for (const Row& row : rows) out += Line(row, all.seconds);
  return out + Line(all, all.seconds);
}

}  // namespace

double LeastSeconds(const StepProfile& step, const Limits& limits) {
  const double constants = ConstantBytes(step);
  double seconds = 0;
  for (const CallProfile& call : step.calls) seconds += LeastSeconds(call, constants, limits);
  return seconds;
}

std::string ExplainTables(const std::vector<StepProfile>& steps, const Limits& limits) {
  std::string out;
  for (const StepProfile& step : steps) out += ExplainTable(step, limits) + "\n";
  return out;
}

}  // namespace tboost
