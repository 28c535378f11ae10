// Runs the passes on a graph.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "src/passes/pass.h"

namespace tboost {

struct OptimizeOptions {
  int level = 3;                      // 0 to 3: passes of a higher level do not run
  std::vector<std::string> disabled;  // passes by name
  // Called after every pass that ran, with the graph it left; for dumps.
  std::function<void(std::string_view pass, const Graph& graph)> dump;
};

struct PassRun {
  std::string_view name;
  double milliseconds = 0;
  PassReport report;
};

struct OptimizeReport {
  std::vector<PassRun> runs;  // of the passes that ran, in order
};

// The built-in passes in the order they run.
std::span<const Pass* const> AllPasses();

// Runs them; after each one the graph is cleaned of dead nodes, compacted and verified. A failure
// names the pass; the graph is then of no use. Not thread-safe for one graph.
Result<OptimizeReport> Optimize(Graph& graph, const OptimizeOptions& options = {});

// One pass with the cleaning and verifying around it.
Result<PassReport> RunPass(const Pass& pass, Graph& graph);

}  // namespace tboost
