#include <algorithm>

#include "src/graph/op_record.h"
#include "src/passes/pass.h"
#include "src/passes/product.h"

namespace tboost {
namespace {

// Why `user` cannot normalise its operand `value` itself; empty: it can.
std::string WhyNot(const Graph& graph, NodeId user, ValueId value) {
  const Node& node = graph.node(user);
  if (!IsProduct(node))
    return fmt::format("its reader {} is {}, expected {}", node.name, node.op->name, kProducts);
  if (node.inputs[0] != value || std::ranges::count(node.inputs, value) != 1)
    return fmt::format("{} reads it as another operand than x", node.name);
  if (ReadProduct(graph, user).gamma != kNone)
    return fmt::format("{} has a norm already", node.name);
  return {};
}

Result<PassReport> Run(Graph& graph) {
  const Pattern pattern = Op(kNorms, {Any(), Any(), Maybe()});
  return RewriteMatches(graph, pattern, [&](NodeId node) -> Rewriting {
    const RowNorm norm = ReadNorm(graph, node);
    const ValueId value = graph.node(node).outputs[0];
    if (norm.kind == kernels::NormKind::kNone) return Kept("it normalises parts of rows");
    if (graph.IsOutput(value)) return Kept("it is a graph output");
    const std::vector<NodeId> users(graph.Users(value).begin(), graph.Users(value).end());
    for (const NodeId user : users)
      if (std::string reason = WhyNot(graph, user, value); !reason.empty()) return Kept(reason);
    for (const NodeId user : users) {
      Product fused = ReadProduct(graph, user);
      fused.x = norm.x;
      fused.gamma = norm.gamma;
      fused.beta = norm.beta;
      fused.attributes.norm = norm.kind;
      fused.attributes.eps = norm.eps;
      TBOOST_RETURN_IF_ERROR(WriteProduct(graph, user, fused));
    }
    return Rewritten();
  });
}

}  // namespace

const Pass kFuseNormLinear = {
    .name = "fuse_norm_linear",
    .doc = "A norm that only products read: they normalise the rows as they read them.",
    .level = 2,
    .run = Run,
};

}  // namespace tboost
