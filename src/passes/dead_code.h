// Removal of nodes that no graph output needs.
#pragma once

#include "src/graph/graph.h"

namespace tboost {

// The number of nodes removed. Linear time; ids stay (Graph::Compact changes them).
int RemoveDeadNodes(Graph& graph);

}  // namespace tboost
