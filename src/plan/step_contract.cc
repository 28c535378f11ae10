#include "src/plan/step_contract.h"

#include <algorithm>

#include "src/graph/op_record.h"
#include "src/ops/ops.h"
#include "src/ops/positions.h"
#include "src/ops/shape_rule.h"

namespace tboost {
namespace {

const Dim& Tokens() {
  static const Dim dim = Dim::Symbol("tokens");
  return dim;
}

// The inputs that a step fills, except caches, with the types that it fills.
const std::vector<std::pair<std::string_view, ValueType>>& StepInputTypes() {
  static const std::vector<std::pair<std::string_view, ValueType>> types = {
      {"input_ids", {ValueType::Kind::kTensor, DType::kI32, {Tokens()}}},
      {"token_type_ids", {ValueType::Kind::kTensor, DType::kI32, {Tokens()}}},
      {"output_rows", {ValueType::Kind::kTensor, DType::kI32, {Dim::Symbol("outputs")}}},
      {"layout", {ValueType::Kind::kLayout, DType::kF32, {Tokens(), Dim::Symbol("sequences")}}}};
  return types;
}

Status CheckInput(const Value& input, const StepContract& contract) {
  if (input.type.kind == ValueType::Kind::kKvCache)
    return contract.generates ? OkStatus()
                              : CorruptError("input {}: an encoder has no caches", input.name);
  const auto& types = StepInputTypes();
  const auto found = std::ranges::find(types, input.name, [](const auto& t) { return t.first; });
  if (found == types.end())
    return UnsupportedError("input {}: no step fills an input of that name", input.name);
  const ValueType& expected = found->second;
  const bool tensor = expected.kind == ValueType::Kind::kTensor;
  if (input.type.kind != expected.kind || input.type.shape != expected.shape ||
      (tensor && input.type.dtype != expected.dtype))
    return CorruptError("input {} is {}, expected {}", input.name, ToText(input.type),
                        ToText(expected));
  return OkStatus();
}

// Indices that `value` may hold are below the result; 0: not known.
int64_t IndexLimit(const Graph& graph, ValueId value, const StepContract& contract) {
  const Value& ids = graph.value(value);
  if (ids.constant) return 0;
  if (ids.producer == kNone) {
    if (ids.name == "input_ids") return contract.vocab_size;
    return ids.name == "token_type_ids" ? 1 : 0;
  }
  const Node& node = graph.node(ids.producer);
  if (node.op != &ops::Positions()) return 0;
  return CheckedAttributes<ops::PositionsAttributes>(node.attributes).offset +
         contract.context_length;
}

Status CheckIndices(const Graph& graph, const Node& node, const StepContract& contract) {
  if (node.op == &ops::Embedding()) {
    const Value& table = graph.value(node.inputs[0]);
    const int64_t rows = table.type.shape[0].constant().value_or(0);
    const int64_t limit = IndexLimit(graph, node.inputs[1], contract);
    if (limit < 1 || limit > rows)
      return CorruptError("{}: {} has {} rows for indices below {}", node.name, table.name, rows,
                          limit);
  } else if (node.op == &ops::SelectRows()) {
    const Value& rows = graph.value(node.inputs[1]);
    if (rows.producer != kNone || rows.name != "output_rows" ||
        graph.value(node.inputs[0]).type.shape[0] != Tokens())
      return CorruptError("{}: rows are selected by {}, expected output_rows of all tokens",
                          node.name, rows.name);
  }
  return OkStatus();
}

Status CheckOutput(const Graph& graph, const StepContract& contract) {
  const std::string_view name = contract.generates ? "logits" : "embedding";
  const Dim rows = Dim::Symbol(contract.generates ? "outputs" : "sequences");
  for (const auto& [output, value] : graph.outputs()) {
    if (output != name) continue;
    const ValueType& type = graph.value(value).type;
    const bool ok = type.kind == ValueType::Kind::kTensor && type.dtype == DType::kF32 &&
                    type.shape.size() == 2 && type.shape[0] == rows &&
                    type.shape[1].is_constant() &&
                    (!contract.generates || type.shape[1] == Dim(contract.vocab_size));
    return ok ? OkStatus()
              : CorruptError("output {} is {}, which is not what the manifest says", name,
                             ToText(type));
  }
  return CorruptError("the graph has no output {}", name);
}

}  // namespace

Status CheckStepContract(const Graph& graph, const StepContract& contract) {
  for (ValueId input : graph.inputs())
    TBOOST_RETURN_IF_ERROR(CheckInput(graph.value(input), contract));
  for (const Node& node : graph.nodes())
    TBOOST_RETURN_IF_ERROR(CheckIndices(graph, node, contract));
  return CheckOutput(graph, contract);
}

}  // namespace tboost
