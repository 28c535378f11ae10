#include "src/passes/pass.h"

namespace tboost {

Result<PassReport> RewriteMatches(Graph& graph, const Pattern& pattern,
                                  FunctionRef<Rewriting(NodeId)> rewrite) {
  PassReport report;
  const auto count = static_cast<NodeId>(graph.nodes().size());
  for (NodeId id = 0; id < count; ++id) {
    if (!graph.node(id).op) continue;
    const std::string name = graph.node(id).name;
    MatchResult match = Match(graph, id, pattern);
    if (match) {
      TBOOST_ASSIGN_OR_RETURN(match.mismatch, rewrite(id));
    } else if (!match.candidate) {
      continue;
    }
    if (match.mismatch.empty())
      ++report.changes;
    else
      report.missed.push_back({name, std::move(match.mismatch)});
  }
  return report;
}

}  // namespace tboost
