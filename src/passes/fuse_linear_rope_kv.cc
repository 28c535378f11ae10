#include "src/ops/columns.h"
#include "src/ops/linear_rope_kv.h"
#include "src/ops/lowering.h"
#include "src/ops/rope_kv.h"
#include "src/ops/shape_rule.h"
#include "src/passes/pass.h"
#include "src/passes/product.h"

namespace tboost {
namespace {

// Where q, k or v comes from: columns of a product, or all of it (begin 0).
struct Source {
  NodeId product = kNone;
  int64_t begin = 0;
};

Source FindSource(const Graph& graph, ValueId value) {
  Source out;
  out.product = graph.value(value).producer;
  if (out.product == kNone || graph.UseCount(value) != 1) return {};
  const Node& node = graph.node(out.product);
  if (node.op == &ops::Columns()) {
    out.begin = CheckedAttributes<ops::ColumnsAttributes>(node.attributes).begin;
    out.product = graph.value(node.inputs[0]).producer;
  }
  return out.product != kNone && IsProduct(graph.node(out.product)) ? out : Source{};
}

// Whether `readers` values are all that reads the product's result.
bool ReadBy(const Graph& graph, NodeId product, int readers) {
  return graph.UseCount(graph.node(product).outputs[0]) == readers;
}

bool Plain(const Product& p) {
  return p.residual == kNone && !p.attributes.gated &&
         p.attributes.activation == kernels::Activation::kNone;
}

bool SameRows(const Product& a, const Product& b) {
  return a.x == b.x && a.gamma == b.gamma && a.beta == b.beta &&
         a.attributes.norm == b.attributes.norm && a.attributes.eps == b.attributes.eps &&
         a.attributes.round_rows == b.attributes.round_rows;
}

struct Sources {
  Source q, k, v;
  bool own_values() const { return v.product != q.product; }
};

// Why the products and rope_kv cannot be one step; empty: they can.
std::string WhyNot(const Graph& graph, const Sources& s, const ops::RopeKvAttributes& a,
                   ValueId cache) {
  if (cache == kNone) return "rope_kv: there is no cache";
  if (a.head_dim % kPanelColumns != 0)
    return fmt::format("rope_kv: heads of {} are no whole panels of {} columns", a.head_dim,
                       kPanelColumns);
  if (s.q.product == kNone || s.k.product == kNone || s.v.product == kNone)
    return "rope_kv: q, k or v is not the result of a product that it alone reads";
  const int64_t values = (a.heads + a.kv_heads) * a.head_dim;
  if (s.k.product != s.q.product || s.q.begin != 0 || s.k.begin != a.heads * a.head_dim ||
      s.v.begin != (s.own_values() ? 0 : values))
    return "rope_kv: q, k and v are not neighbouring columns of one product";
  if (!ReadBy(graph, s.q.product, s.own_values() ? 2 : 3) ||
      (s.own_values() && !ReadBy(graph, s.v.product, 1)))
    return "rope_kv: its product has other readers";
  const Product qk = ReadProduct(graph, s.q.product), v = ReadProduct(graph, s.v.product);
  if (!Plain(qk) || !Plain(v)) return "rope_kv: its product is more than norm and bias";
  for (const Product& p : {qk, v})
    if (!IsComposable(graph.value(p.w).type.dtype))
      return fmt::format("rope_kv: its weights are {}", DTypeName(graph.value(p.w).type.dtype));
  if (s.own_values() && (!SameRows(qk, v) || v.bias != kNone))
    return "rope_kv: the product of v has another input or a bias";
  return {};
}

Rewriting Fuse(Graph& graph, NodeId id) {
  const Node node = graph.node(id);
  const auto heads = CheckedAttributes<ops::RopeKvAttributes>(node.attributes);
  const Sources sources = {FindSource(graph, node.inputs[0]), FindSource(graph, node.inputs[1]),
                           FindSource(graph, node.inputs[2])};
  if (std::string reason = WhyNot(graph, sources, heads, node.inputs[5]); !reason.empty())
    return Kept(std::move(reason));
  const Product product = ReadProduct(graph, sources.q.product);
  const ValueId value_w = sources.own_values() ? ReadProduct(graph, sources.v.product).w : kNone;
  const ops::LinearRopeKvAttributes attributes = {heads.heads,
                                                  heads.kv_heads,
                                                  heads.head_dim,
                                                  heads.eps,
                                                  product.attributes.norm,
                                                  product.attributes.eps,
                                                  product.attributes.round_rows};
  graph.SetProvenance(node.provenance);
  graph.RemoveNode(id);
  const auto fused = graph.AddNode(
      ops::LinearRopeKv(), node.name,
      {product.x, product.w, product.bias, product.gamma, product.beta, value_w, node.inputs[3],
       node.inputs[4], node.inputs[5], node.inputs[6], node.inputs[7]},
      MakeAttributes(attributes));
  TBOOST_RETURN_IF_ERROR(fused.status());
  const auto q = graph.Add(ops::Columns(), node.name + ".q", {graph.node(*fused).outputs[0]},
                           MakeAttributes(ops::ColumnsAttributes{0, heads.heads * heads.head_dim}));
  graph.SetProvenance("");
  TBOOST_RETURN_IF_ERROR(q.status());
  graph.ReplaceUses(node.outputs[0], *q);
  graph.ReplaceUses(node.outputs[1], graph.node(*fused).outputs[1]);
  return Rewritten();
}

Result<PassReport> Run(Graph& graph) {
  return RewriteMatches(
      graph, Op("rope_kv", {Any(), Any(), Any(), Maybe(), Any(), Maybe(), Maybe(), Maybe()}),
      [&](NodeId id) { return Fuse(graph, id); });
}

}  // namespace

const Pass kFuseLinearRopeKv = {
    .name = "fuse_linear_rope_kv",
    .doc = "The product of q, k and v, and what rope_kv does with them: one step.",
    .level = 2,
    .run = Run,
};

}  // namespace tboost
