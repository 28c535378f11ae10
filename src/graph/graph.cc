#include "src/graph/graph.h"

#include <algorithm>
#include <memory>

#include "src/graph/op_record.h"

namespace tboost {

ValueId Graph::NewValue(std::string name, ValueType type) {
  const auto id = static_cast<ValueId>(values_.size());
  auto [entry, added] = names_.try_emplace(name);
  if (!added && entry->second.value != kNone) {
    Name& taken = entry->second;
    std::string candidate;
    do {
      candidate = fmt::format("{}.{}", name, taken.next_suffix++);
    } while (FindValue(candidate) != kNone);
    name = std::move(candidate);
    entry = names_.try_emplace(name).first;
  }
  entry->second.value = id;
  Value& value = values_.emplace_back();
  value.name = std::move(name);
  value.type = std::move(type);
  users_.emplace_back();
  return id;
}

ValueId Graph::AddInput(std::string name, ValueType type) {
  inputs_.push_back(NewValue(std::move(name), std::move(type)));
  return inputs_.back();
}

ValueId Graph::AddConstant(std::string name, ValueType type, RecipePtr recipe) {
  const ValueId id = NewValue(std::move(name), std::move(type));
  values_[id].constant = std::move(recipe);
  return id;
}

Result<std::vector<ValueType>> Graph::Infer(const OpRecord& op, std::string_view name,
                                            std::span<const ValueId> inputs,
                                            const Attributes& attributes) const {
  if (inputs.size() != op.inputs.size())
    return InvalidArgumentError("[{}] {}: {} operands, expected {}", op.name, name, inputs.size(),
                                op.inputs.size());
  std::vector<ValueType> types(inputs.size());
  const auto present = std::make_unique<bool[]>(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const OperandSpec& spec = op.inputs[i];
    types[i].kind = spec.kind;
    present[i] = inputs[i] != kNone;
    if (!present[i] && !spec.optional)
      return InvalidArgumentError("[{}] {}: operand {} is missing", op.name, name, spec.name);
    if (!present[i]) continue;
    types[i] = values_[inputs[i]].type;
    if (types[i].kind != spec.kind)
      return InvalidArgumentError("[{}] {}: operand {} is of another kind", op.name, name,
                                  spec.name);
  }
  auto outputs = op.infer(types, std::span<const bool>(present.get(), inputs.size()), attributes);
  if (!outputs.ok()) return outputs.status().WithContext(name);
  if (outputs->empty() || outputs->size() > op.outputs.size())
    return InternalError("[{}] {}: the shape rule gives {} outputs", op.name, name,
                         outputs->size());
  return outputs;
}

void Graph::Connect(NodeId node, std::vector<ValueId> inputs) {
  for (const ValueId input : inputs)
    if (input != kNone) users_[input].push_back(node);
  nodes_[node].inputs = std::move(inputs);
}

void Graph::Disconnect(NodeId node) {
  for (const ValueId input : nodes_[node].inputs)
    if (input != kNone) std::erase(users_[input], node);
  nodes_[node].inputs.clear();
}

Result<NodeId> Graph::AddNode(const OpRecord& op, std::string name, std::vector<ValueId> inputs,
                              Attributes attributes) {
  TBOOST_ASSIGN_OR_RETURN(std::vector<ValueType> types, Infer(op, name, inputs, attributes));
  const auto id = static_cast<NodeId>(nodes_.size());
  Node node;
  node.op = &op;
  node.attributes = std::move(attributes);
  node.provenance = provenance_;
  for (size_t i = 0; i < types.size(); ++i) {
    const ValueId output =
        NewValue(i == 0 ? name : fmt::format("{}.{}", name, i), std::move(types[i]));
    values_[output].producer = id;
    values_[output].output_index = static_cast<int>(i);
    node.outputs.push_back(output);
  }
  node.name = values_[node.outputs[0]].name;
  nodes_.push_back(std::move(node));
  Connect(id, std::move(inputs));
  return id;
}

Result<ValueId> Graph::Add(const OpRecord& op, std::string name, std::vector<ValueId> inputs,
                           Attributes attributes) {
  TBOOST_ASSIGN_OR_RETURN(const NodeId id,
                          AddNode(op, std::move(name), std::move(inputs), std::move(attributes)));
  return nodes_[id].outputs[0];
}

void Graph::MarkOutput(std::string name, ValueId value) {
  outputs_.emplace_back(std::move(name), value);
}

Status Graph::Rewrite(NodeId id, const OpRecord& op, std::vector<ValueId> inputs,
                      Attributes attributes) {
  TBOOST_ASSIGN_OR_RETURN(std::vector<ValueType> types,
                          Infer(op, nodes_[id].name, inputs, attributes));
  const size_t kept = nodes_[id].outputs.size();
  bool same = types.size() >= kept;
  for (size_t i = 0; same && i < kept; ++i) same = values_[nodes_[id].outputs[i]].type == types[i];
  if (!same)
    return InvalidArgumentError("[{}] {}: its outputs differ from those of {}", op.name,
                                nodes_[id].name, nodes_[id].op->name);
  for (size_t i = kept; i < types.size(); ++i) {
    const ValueId output = NewValue(fmt::format("{}.{}", nodes_[id].name, i), std::move(types[i]));
    values_[output].producer = id;
    values_[output].output_index = static_cast<int>(i);
    nodes_[id].outputs.push_back(output);
  }
  Disconnect(id);
  nodes_[id].op = &op;
  nodes_[id].attributes = std::move(attributes);
  Connect(id, std::move(inputs));
  return OkStatus();
}

void Graph::ReplaceUses(ValueId from, ValueId to) {
  if (from == to) return;
  for (const NodeId user : users_[from]) std::ranges::replace(nodes_[user].inputs, from, to);
  users_[to].insert(users_[to].end(), users_[from].begin(), users_[from].end());
  users_[from].clear();
  for (auto& [name, value] : outputs_)
    if (value == from) value = to;
}

void Graph::RemoveNode(NodeId id) {
  Disconnect(id);
  for (const ValueId output : nodes_[id].outputs) {
    values_[output].producer = kNone;
    names_[values_[output].name].value = kNone;
  }
  nodes_[id] = Node{};
}

Status Graph::Rename(ValueId id, std::string name) {
  Value& value = values_[id];
  if (value.name == name) return OkStatus();
  if (FindValue(name) != kNone)
    return InvalidArgumentError("value {} cannot be named {}: the name is taken", value.name, name);
  names_[value.name].value = kNone;
  names_[name].value = id;
  value.name = std::move(name);
  if (value.producer != kNone && value.output_index == 0) nodes_[value.producer].name = value.name;
  return OkStatus();
}

// Depth first from every node in turn, so that a node added late comes just before its first user.
Result<std::vector<NodeId>> Graph::TopologicalOrder() const {
  enum State : uint8_t { kNew, kOpen, kDone };
  std::vector<State> state(nodes_.size(), kNew);
  std::vector<NodeId> order;
  std::vector<std::pair<NodeId, size_t>> stack;  // a node and the operand to look at next
  for (NodeId root = 0; root < nodes_.size(); ++root) {
    if (!nodes_[root].op || state[root] != kNew) continue;
    stack.emplace_back(root, 0);
    state[root] = kOpen;
    while (!stack.empty()) {
      const NodeId id = stack.back().first;
      const size_t operand = stack.back().second++;
      if (operand == nodes_[id].inputs.size()) {
        state[id] = kDone;
        order.push_back(id);
        stack.pop_back();
        continue;
      }
      const ValueId input = nodes_[id].inputs[operand];
      const NodeId producer = input == kNone ? kNone : values_[input].producer;
      if (producer == kNone || state[producer] == kDone) continue;
      if (state[producer] == kOpen)
        return InternalError("[{}] {} is part of a cycle", nodes_[id].op->name, nodes_[id].name);
      state[producer] = kOpen;
      stack.emplace_back(producer, 0);
    }
  }
  return order;
}

Status Graph::Compact() {
  TBOOST_ASSIGN_OR_RETURN(const std::vector<NodeId> order, TopologicalOrder());
  std::vector<bool> used(values_.size());
  for (ValueId id = 0; id < values_.size(); ++id) used[id] = !users_[id].empty();
  for (const auto& [name, value] : outputs_) used[value] = true;
  std::vector<ValueId> kept = inputs_;
  for (ValueId id = 0; id < values_.size(); ++id)
    if (values_[id].constant && used[id]) kept.push_back(id);
  for (const NodeId id : order)
    kept.insert(kept.end(), nodes_[id].outputs.begin(), nodes_[id].outputs.end());

  std::vector<ValueId> moved(values_.size(), kNone);
  for (ValueId id = 0; id < kept.size(); ++id) moved[kept[id]] = id;
  for (ValueId id = 0; id < values_.size(); ++id)
    if (moved[id] == kNone && used[id])
      return InternalError("value {} is used, but the node that made it was removed",
                           values_[id].name);

  Graph out;
  out.provenance_ = std::move(provenance_);
  for (const ValueId id : kept) {
    const ValueId copy = out.NewValue(std::move(values_[id].name), std::move(values_[id].type));
    out.values_[copy].output_index = values_[id].output_index;
    out.values_[copy].constant = std::move(values_[id].constant);
  }
  const auto move = [&moved](ValueId& id) {
    if (id != kNone) id = moved[id];
  };
  for (const NodeId id : order) {
    const auto copy = static_cast<NodeId>(out.nodes_.size());
    Node& node = out.nodes_.emplace_back(std::move(nodes_[id]));
    for (ValueId& output : node.outputs) {
      move(output);
      out.values_[output].producer = copy;
    }
    std::vector<ValueId> inputs = std::move(node.inputs);
    std::ranges::for_each(inputs, move);
    out.Connect(copy, std::move(inputs));
  }
  out.inputs_ = std::move(inputs_);
  std::ranges::for_each(out.inputs_, move);
  out.outputs_ = std::move(outputs_);
  for (auto& [name, value] : out.outputs_) move(value);
  *this = std::move(out);
  return OkStatus();
}

bool Graph::IsOutput(ValueId id) const {
  return std::ranges::any_of(outputs_, [id](const auto& output) { return output.second == id; });
}

int Graph::UseCount(ValueId id) const {
  return static_cast<int>(
      users_[id].size() +
      std::ranges::count(outputs_, id, &std::pair<std::string, ValueId>::second));
}

ValueId Graph::FindValue(std::string_view name) const {
  const auto found = names_.find(name);
  return found == names_.end() ? kNone : found->second.value;
}

}  // namespace tboost
