// A pass: one rewriting of the graph that keeps its results. One file each, one line of passes.inc.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "src/base/function_ref.h"
#include "src/base/status.h"
#include "src/graph/graph.h"
#include "src/graph/matcher.h"

namespace tboost {

// A place that a pass looked at and left as it was.
struct Missed {
  std::string node;
  std::string reason;  // the first mismatch
};

struct PassReport {
  int changes = 0;  // places rewritten
  std::vector<Missed> missed;
};

// `run` gets a graph that Verify() accepts and leaves one that it accepts after Compact();
// operators nobody reads any more may stay, the runner removes them. A failure is a bug or bad
// input, not a mismatch.
struct Pass {
  std::string_view name;
  std::string_view doc;
  int level;  // of optimisation, from which it runs: 1 basic, 2 in-layer, 3 across layers
  Result<PassReport> (*run)(Graph& graph);
};

// All built-in passes, in the order they run.
#define TBOOST_PASS(name) extern const Pass name;
#include "src/passes/passes.inc"
#undef TBOOST_PASS

// What a rewriting of one place did: an empty reason where it changed the graph, else why it kept
// it. A failure is no mismatch but an error.
using Rewriting = Result<std::string>;
inline Rewriting Rewritten() { return std::string(); }
inline Rewriting Kept(std::string reason) { return reason; }

// The loop of a pattern's pass: calls `rewrite` for every node where `pattern` matches. Candidates
// that do not match are reported with their first mismatch. Nodes that `rewrite` adds are not
// visited.
Result<PassReport> RewriteMatches(Graph& graph, const Pattern& pattern,
                                  FunctionRef<Rewriting(NodeId)> rewrite);

}  // namespace tboost
