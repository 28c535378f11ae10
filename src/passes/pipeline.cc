#include "src/passes/pipeline.h"

#include <algorithm>
#include <chrono>

#include "src/passes/dead_code.h"

namespace tboost {
namespace {

Status CheckOptions(const OptimizeOptions& options) {
  if (options.level < 0 || options.level > 3)
    return InvalidArgumentError("optimisation level {}, expected 0 to 3", options.level);
  for (const std::string& name : options.disabled) {
    if (std::ranges::any_of(AllPasses(), [&](const Pass* pass) { return pass->name == name; }))
      continue;
    std::string known;
    for (const Pass* pass : AllPasses()) known += fmt::format(" {}", pass->name);
    return InvalidArgumentError("no pass is named {}; there are:{}", name, known);
  }
  return OkStatus();
}

}  // namespace

std::span<const Pass* const> AllPasses() {
  static constexpr const Pass* kPasses[] = {
#define TBOOST_PASS(name) &name,
#include "src/passes/passes.inc"
#undef TBOOST_PASS
  };
  return kPasses;
}

Result<PassReport> RunPass(const Pass& pass, Graph& graph) {
  auto report = pass.run(graph);
  Status status = report.status();
  if (status.ok()) {
    RemoveDeadNodes(graph);
    status = graph.Compact();
  }
  if (status.ok()) status = Verify(graph);
  if (!status.ok()) return status.WithContext(fmt::format("pass {}", pass.name));
  return report;
}

Result<OptimizeReport> Optimize(Graph& graph, const OptimizeOptions& options) {
  TBOOST_RETURN_IF_ERROR(CheckOptions(options));
  TBOOST_RETURN_IF_ERROR(Verify(graph));
  OptimizeReport report;
  for (const Pass* pass : AllPasses()) {
    if (pass->level > options.level || std::ranges::count(options.disabled, pass->name)) continue;
    const auto start = std::chrono::steady_clock::now();
    TBOOST_ASSIGN_OR_RETURN(PassReport done, RunPass(*pass, graph));
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    report.runs.push_back({pass->name, took.count(), std::move(done)});
    if (options.dump) options.dump(pass->name, graph);
  }
  return report;
}

}  // namespace tboost
