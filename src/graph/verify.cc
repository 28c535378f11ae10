#include <algorithm>
#include <set>

#include "src/base/checked.h"
#include "src/graph/graph.h"
#include "src/graph/op_record.h"

namespace tboost {
namespace {

Status VerifyConstant(const Value& value) {
  std::vector<int64_t> shape;
  for (const Dim& dim : value.type.shape) {
    if (!dim.constant())
      return InvalidArgumentError("constant {} has the dimension {}", value.name, dim.ToString());
    shape.push_back(*dim.constant());
  }
  const auto elements = CheckedElements(shape);
  const Recipe& recipe = *value.constant;
  const bool row_length = shape.size() < 2 || recipe.columns == shape.back();
  if (value.type.kind != ValueType::Kind::kTensor || value.type.dtype != recipe.dtype ||
      !elements || CheckedMul(recipe.rows, recipe.columns) != elements || !row_length)
    return InvalidArgumentError("constant {} is {}, but its recipe gives {}[{}, {}]", value.name,
                                ToText(value.type), DTypeName(recipe.dtype), recipe.rows,
                                recipe.columns);
  return OkStatus();
}

Status VerifyNode(const Graph& graph, NodeId id, std::vector<bool>& defined) {
  const Node& node = graph.node(id);
  for (const ValueId input : node.inputs)
    if (input != kNone && !defined[input])
      return InvalidArgumentError("[{}] {}: operand {} is not defined before its use",
                                  node.op->name, node.name, graph.value(input).name);
  TBOOST_ASSIGN_OR_RETURN(const std::vector<ValueType> types,
                          graph.Infer(*node.op, node.name, node.inputs, node.attributes));
  bool outputs_match = types.size() == node.outputs.size();
  for (size_t i = 0; outputs_match && i < types.size(); ++i) {
    const Value& output = graph.value(node.outputs[i]);
    outputs_match = output.producer == id && output.output_index == static_cast<int>(i);
    if (output.type != types[i])
      return InvalidArgumentError("[{}] {}: output {} is {}, the shape rule gives {}",
                                  node.op->name, node.name, i, ToText(output.type),
                                  ToText(types[i]));
  }
  if (!outputs_match || graph.value(node.outputs[0]).name != node.name)
    return InvalidArgumentError("[{}] {}: its outputs are those of another node", node.op->name,
                                node.name);
  for (const ValueId output : node.outputs) defined[output] = true;
  return OkStatus();
}

}  // namespace

Status Verify(const Graph& graph) {
  std::vector<bool> defined(graph.values().size());
  for (const ValueId input : graph.inputs()) defined[input] = true;
  for (ValueId id = 0; id < graph.values().size(); ++id) {
    if (!graph.value(id).constant) continue;
    TBOOST_RETURN_IF_ERROR(VerifyConstant(graph.value(id)));
    defined[id] = true;
  }
  for (NodeId id = 0; id < graph.nodes().size(); ++id)
    if (graph.node(id).op) TBOOST_RETURN_IF_ERROR(VerifyNode(graph, id, defined));

  for (ValueId id = 0; id < graph.values().size(); ++id)
    if (defined[id] && graph.FindValue(graph.value(id).name) != id)
      return InvalidArgumentError("two values are named {}", graph.value(id).name);
  std::set<std::string_view> names;
  for (const auto& [name, value] : graph.outputs()) {
    if (!names.insert(name).second) return InvalidArgumentError("two outputs are named {}", name);
    if (!defined[value])
      return InvalidArgumentError("output {}: {} is not defined", name, graph.value(value).name);
  }
  return OkStatus();
}

}  // namespace tboost
