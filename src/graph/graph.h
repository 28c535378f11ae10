// Graph: what a model computes. Nodes and values live in vectors and are named by 32-bit ids;
// removing a node leaves a dead entry until Compact(). Not thread-safe; plain data.
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

// What a value is. A text model's tensors are [tokens, width]; heads are attributes of the
// operators that care, so no reshape or transpose stands between them.
struct ValueType {
  enum class Kind : uint8_t { kTensor, kLayout, kKvCache };
  Kind kind = Kind::kTensor;
  DType dtype = DType::kF32;
  // Of a kv cache: [kv_heads, head_dim] of one layer; of a layout: [tokens, sequences].
  std::vector<Dim> shape;
  bool operator==(const ValueType&) const = default;
};

struct Value {
  std::string name;  // unique in the graph
  ValueType type;
  NodeId producer = kNone;  // kNone: an input of the graph or a constant
  int output_index = 0;
  RecipePtr constant;  // set: a constant
};

struct Node {
  const OpRecord* op = nullptr;  // null: removed
  std::string name;              // that of its first output
  std::vector<ValueId> inputs;   // kNone for an absent optional operand
  std::vector<ValueId> outputs;
  Attributes attributes;
  std::string provenance;  // the source layer or node names it stands for ("model.layers.3.mlp")
};

// Nodes and values are read freely and changed only through the graph, which keeps the users of
// every value at hand. Ids must be of this graph.
class Graph {
 public:
  // A name in use gets a suffix, here and below.
  ValueId AddInput(std::string name, ValueType type);
  ValueId AddConstant(std::string name, ValueType type, RecipePtr recipe);
  // Adds a node after all others, infers its output types (shape rule of the record) and names its
  // outputs `name`, `name`.1 and so on.
  Result<NodeId> AddNode(const OpRecord& op, std::string name, std::vector<ValueId> inputs,
                         Attributes attributes);
  // AddNode for a node of one output: that output.
  Result<ValueId> Add(const OpRecord& op, std::string name, std::vector<ValueId> inputs,
                      Attributes attributes = {});
  // What AddNode would give the outputs: checks operands and attributes; the message starts with
  // `name`.
  Result<std::vector<ValueType>> Infer(const OpRecord& op, std::string_view name,
                                       std::span<const ValueId> inputs,
                                       const Attributes& attributes) const;
  void MarkOutput(std::string name, ValueId value);

  // Gives `node` another meaning: it keeps its place, name, provenance and output values, whose
  // types must be what `op` gives; outputs that only the new operator has are added. On failure
  // nothing changes.
  Status Rewrite(NodeId node, const OpRecord& op, std::vector<ValueId> inputs,
                 Attributes attributes);
  // Every use of `from` (operands and graph outputs) becomes a use of `to`.
  void ReplaceUses(ValueId from, ValueId to);
  // The node's outputs lose their producer and their names, which others may take; uses that remain
  // are replaced before Compact().
  void RemoveNode(NodeId node);
  // Another recipe for the same constant: where its bytes are now.
  void SetConstant(ValueId constant, RecipePtr recipe) {
    values_[constant].constant = std::move(recipe);
  }
  // An error where the name is taken.
  Status Rename(ValueId value, std::string name);
  // Drops removed nodes and unused constants, and orders nodes so that producers come first, else
  // as they were. Linear time. Ids change. Fails on a cycle or a use of a removed node's output;
  // the graph is then as it was.
  Status Compact();

  const std::vector<Node>& nodes() const { return nodes_; }
  const std::vector<Value>& values() const { return values_; }
  const Node& node(NodeId id) const { return nodes_[id]; }
  const Value& value(ValueId id) const { return values_[id]; }
  const std::vector<ValueId>& inputs() const { return inputs_; }
  const std::vector<std::pair<std::string, ValueId>>& outputs() const { return outputs_; }
  // Nodes that read `value`, once per operand, oldest use first. Valid until the graph changes.
  std::span<const NodeId> Users(ValueId value) const { return users_[value]; }
  bool IsOutput(ValueId value) const;
  // Number of operand uses plus graph outputs.
  int UseCount(ValueId value) const;
  ValueId FindValue(std::string_view name) const;  // kNone if absent
  // The provenance given to nodes added from now on.
  void SetProvenance(std::string text) { provenance_ = std::move(text); }

 private:
  struct Name {
    ValueId value = kNone;
    int next_suffix = 2;  // to try, where the name is wanted again
  };

  ValueId NewValue(std::string name, ValueType type);
  void Connect(NodeId node, std::vector<ValueId> inputs);
  void Disconnect(NodeId node);
  Result<std::vector<NodeId>> TopologicalOrder() const;

  std::vector<Node> nodes_;
  std::vector<Value> values_;
  std::vector<std::vector<NodeId>> users_;  // of every value
  std::vector<ValueId> inputs_;
  std::vector<std::pair<std::string, ValueId>> outputs_;
  std::map<std::string, Name, std::less<>> names_;
  std::string provenance_;
};

// Checks every invariant: operands exist and precede their use, arity, attributes parse, types
// equal what the shape rules give, constants have the elements of their type, names are unique. The
// message names the node or value.
Status Verify(const Graph& graph);

// The text form, one line per input, constant, node and output:
//   input %ids : i32[tokens]
//   const %w : q4_1[96, 64] = concat(file(0, 4096, q4_1[64, 64]), file(0, 8192, q4_1[32, 64]))
//   %h : f32[tokens, 64] = embedding(%w, %ids) {scale=1.5} @"model.embed_tokens"
//   output logits = %h
// Names of other characters than letters, digits and "_./-" stand in quotes; "_" is an absent
// operand; integers have no point, reals have one; [1, 2] is a list of integers, <1.0, 2.0> of
// reals.
std::string ToText(const Graph& graph);
std::string ToText(const ValueType& type);
std::string ToText(const Recipe& recipe);
// The graph of a text form, equal to the one written (after Compact), or a failure that names the
// line.
struct OpRegistry;
Result<Graph> ParseGraph(std::string_view text, const OpRegistry& ops);

}  // namespace tboost
