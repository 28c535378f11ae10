#include "src/ops/rms_norm.h"
#include "src/ops/rope.h"
#include "src/ops/rope_kv.h"
#include "src/ops/shape_rule.h"
#include "src/passes/pass.h"

namespace tboost {
namespace {

// A rotated operand of attention, traced back through its rotation and its norm of heads.
struct Heads {
  NodeId rope = kNone;
  ValueId x = kNone, gamma = kNone;
  double eps = 0;
  ops::RopeAttributes attributes;
};

Heads Trace(const Graph& graph, NodeId rope) {
  Heads out;
  out.rope = rope;
  out.x = graph.node(rope).inputs[0];
  out.attributes = CheckedAttributes<ops::RopeAttributes>(graph.node(rope).attributes);
  const NodeId producer = graph.value(out.x).producer;
  if (producer == kNone || graph.UseCount(out.x) != 1) return out;
  const Node& norm = graph.node(producer);
  if (norm.op != &ops::RmsNorm()) return out;
  const auto attributes = CheckedAttributes<ops::RmsNormAttributes>(norm.attributes);
  if (attributes.groups != out.attributes.heads) return out;
  out.x = norm.inputs[0];
  out.gamma = norm.inputs[1];
  out.eps = attributes.eps;
  return out;
}

// The operands of attention beside q and k, as the two patterns capture them.
struct Operands {
  NodeId q_rope = kNone, k_rope = kNone, write = kNone;
  ValueId q_angles = kNone, k_angles = kNone, v = kNone, layout = kNone, write_layout = kNone,
          cache = kNone;
};

// Puts rope_kv before the attention, instead of the rotations and the write. Empty, or why not.
Rewriting Fuse(Graph& graph, const Operands& found) {
  if (found.q_angles != found.k_angles) return Kept("q and k are rotated by different angles");
  if (found.layout != found.write_layout) return Kept("kv_write has another layout");
  Heads q = Trace(graph, found.q_rope), k = Trace(graph, found.k_rope);
  if (q.attributes.head_dim != k.attributes.head_dim)
    return Kept("heads of q and k differ in size");
  if (q.gamma != kNone && k.gamma != kNone && q.eps != k.eps)
    return Kept("the norms of q and k differ in eps");
  const ops::RopeKvAttributes attributes = {q.attributes.heads, k.attributes.heads,
                                            q.attributes.head_dim,
                                            q.gamma != kNone ? q.eps : k.eps};
  const NodeId second = found.write != kNone ? found.write : found.k_rope;
  const ValueId old_q = graph.node(found.q_rope).outputs[0];
  const ValueId old_second = graph.node(second).outputs[0];
  const std::string name = graph.node(found.q_rope).name;
  graph.SetProvenance(graph.node(second).provenance);
  graph.RemoveNode(found.q_rope);
  graph.RemoveNode(second);
  const auto node = graph.AddNode(
      ops::RopeKv(), name,
      {q.x, k.x, found.v, found.q_angles, found.layout, found.cache, q.gamma, k.gamma},
      MakeAttributes(attributes));
  graph.SetProvenance("");
  TBOOST_RETURN_IF_ERROR(node.status());
  graph.ReplaceUses(old_q, graph.node(*node).outputs[0]);
  graph.ReplaceUses(old_second, graph.node(*node).outputs[1]);
  return Rewritten();
}

Result<PassReport> Run(Graph& graph) {
  Operands found;
  const Pattern q = Op("rope", {Any(), Any(&found.q_angles)}).SingleUse().Capture(&found.q_rope);
  const Pattern k = Op("rope", {Any(), Any(&found.k_angles)}).SingleUse().Capture(&found.k_rope);
  const Pattern write =
      Op("kv_write", {k, Any(&found.v), Any(&found.write_layout), Any(&found.cache)})
          .Capture(&found.write);
  const Pattern paged = Op("paged_attention", {q, write, Any(&found.layout)});
  TBOOST_ASSIGN_OR_RETURN(PassReport report,
                          RewriteMatches(graph, paged, [&](NodeId) { return Fuse(graph, found); }));

  found = {};
  const Pattern unpaged = Op("attention", {q, k, Any(&found.v), Any(&found.layout)});
  TBOOST_ASSIGN_OR_RETURN(const PassReport more, RewriteMatches(graph, unpaged, [&](NodeId) {
                            found.write_layout = found.layout;
                            return Fuse(graph, found);
                          }));
  report.changes += more.changes;
  report.missed.insert(report.missed.end(), more.missed.begin(), more.missed.end());
  return report;
}

}  // namespace

const Pass kFuseRopeKv = {
    .name = "fuse_rope_kv",
    .doc = "The rotations (and norms of heads) of q and k, and the cache write: one step.",
    .level = 2,
    .run = Run,
};

}  // namespace tboost
