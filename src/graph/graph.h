// Graph: what a model computes. Nodes and values live in vectors and are named by 32-bit ids; removing a
// node leaves a dead entry until Compact(). Not thread-safe; plain data.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "src/graph/attributes.h"
#include "src/graph/constant.h"
#include "src/graph/dim.h"
#include "src/tensor/dtype.h"

namespace tboost {

struct OpRecord;

using ValueId = uint32_t;
using NodeId = uint32_t;
inline constexpr uint32_t kNone = 0xffffffff;  // an absent optional operand; no producer

// What a value is. A text model's tensors are [tokens, width]; heads are attributes of the operators
// that care, so no reshape or transpose stands between them.
struct ValueType {
  enum class Kind : uint8_t { kTensor, kLayout, kKvCache };
  Kind kind = Kind::kTensor;
  DType dtype = DType::kF32;
  std::vector<Dim> shape;  // kv cache: [kv_heads, head_dim] of one layer; layout: [tokens, sequences]
  bool operator==(const ValueType&) const = default;
};

struct Value {
  std::string name;          // unique in the graph
  ValueType type;
  NodeId producer = kNone;   // kNone: an input of the graph or a constant
  int output_index = 0;
  RecipePtr constant;        // set: a constant
};

struct Node {
  const OpRecord* op = nullptr;  // null: removed
  std::string name;
  std::vector<ValueId> inputs;   // kNone for an absent optional operand
  std::vector<ValueId> outputs;
  Attributes attributes;
  std::string provenance;        // the source layer or node names it stands for ("model.layers.3.mlp")
};

class Graph {
 public:
  ValueId AddInput(std::string name, ValueType type);
  ValueId AddConstant(std::string name, ValueType type, RecipePtr recipe);
  // Adds a node after all others, infers its output types (shape rule of the record) and names its
  // outputs `name`, or `name`.1... for further ones. A name in use gets a suffix.
  Result<NodeId> AddNode(const OpRecord& op, std::string name, std::vector<ValueId> inputs,
                         Attributes attributes);
  // AddNode for a node of one output: that output.
  Result<ValueId> Add(const OpRecord& op, std::string name, std::vector<ValueId> inputs,
                      Attributes attributes = {});
  void MarkOutput(std::string name, ValueId value);

  // Every use of `from` (operands and graph outputs) becomes a use of `to`.
  void ReplaceUses(ValueId from, ValueId to);
  void RemoveNode(NodeId node);
  // Drops removed nodes and unused values, and orders nodes so that producers come first. Ids change.
  Status Compact();

  const std::vector<Node>& nodes() const { return nodes_; }
  const std::vector<Value>& values() const { return values_; }
  Node& node(NodeId id) { return nodes_[id]; }
  const Node& node(NodeId id) const { return nodes_[id]; }
  Value& value(ValueId id) { return values_[id]; }
  const Value& value(ValueId id) const { return values_[id]; }
  const std::vector<ValueId>& inputs() const { return inputs_; }
  const std::vector<std::pair<std::string, ValueId>>& outputs() const { return outputs_; }
  // Live nodes that read `value`, once per operand, in node order.
  std::vector<NodeId> Users(ValueId value) const;
  // Number of operand uses plus graph outputs.
  int UseCount(ValueId value) const;
  ValueId FindValue(std::string_view name) const;  // kNone if absent
  // The provenance given to nodes added from now on.
  void SetProvenance(std::string text) { provenance_ = std::move(text); }

 private:
  std::vector<Node> nodes_;
  std::vector<Value> values_;
  std::vector<ValueId> inputs_;
  std::vector<std::pair<std::string, ValueId>> outputs_;
  std::map<std::string, int, std::less<>> names_;
  std::string provenance_;
};

// Checks every invariant: operands exist and precede their use, arity, attributes parse, types equal what
// the shape rules give, names unique. The message names the node.
Status Verify(const Graph& graph);

// The text form, one line per value or node; ParseGraph gives an equal graph (constants by description:
// inline bytes are kept, file ranges stay ranges).
std::string ToText(const Graph& graph);
struct OpRegistry;
Result<Graph> ParseGraph(std::string_view text, const OpRegistry& ops);

}  // namespace tboost
