#include "src/ops/interpreter.h"

#include <cstring>

#include "src/tensor/panel.h"

namespace tboost {
namespace {

template <class T>
void ToDouble(std::string_view row, double* out) {
  for (size_t i = 0; i < row.size() / sizeof(T); ++i) {
    T value;
    std::memcpy(&value, row.data() + i * sizeof(T), sizeof(T));
    out[i] = static_cast<double>(value);
  }
}

// One row of any format.
void RowToDouble(DType dtype, std::string_view row, int64_t columns, double* out) {
  switch (dtype) {
    case DType::kI8:
      return ToDouble<int8_t>(row, out);
    case DType::kU8:
    case DType::kBool:
      return ToDouble<uint8_t>(row, out);
    case DType::kI32:
      return ToDouble<int32_t>(row, out);
    case DType::kI64:
      return ToDouble<int64_t>(row, out);
    default:
      break;
  }
  std::vector<float> floats(columns);
  DequantizeRow(dtype, row.data(), columns, floats.data());
  std::copy(floats.begin(), floats.end(), out);
}

class Interpreter {
 public:
  Interpreter(const Graph& graph, const InterpreterInputs& inputs, SourceBytes source)
      : graph_(graph), inputs_(inputs), source_(source), slots_(graph.values().size()) {}

  Result<std::vector<RefTensor>> Run(std::span<const ValueId> wanted) {
    CountUses(wanted);
    for (ValueId input : graph_.inputs()) TBOOST_RETURN_IF_ERROR(Bind(input));
    for (const Node& node : graph_.nodes()) {
      if (!node.op) continue;
      const Status status = RunNode(node);
      if (!status.ok()) return status.WithContext(node.name);
    }
    std::vector<RefTensor> out;
    for (ValueId id : wanted) {
      TBOOST_RETURN_IF_ERROR(Load(id));
      out.push_back(slots_[id].tensor);
    }
    return out;
  }

 private:
  struct Slot {
    int uses = 0;  // still to come
    bool ready = false;
    ValueType type;  // concrete
    RefTensor tensor;
    RefKvCache* cache = nullptr;
  };

  void CountUses(std::span<const ValueId> wanted) {
    for (const Node& node : graph_.nodes())
      for (ValueId input : node.inputs)
        if (node.op && input != kNone) ++slots_[input].uses;
    for (ValueId id : wanted) ++slots_[id].uses;
  }

  Status Bind(ValueId id) {
    const Value& value = graph_.value(id);
    Slot& slot = slots_[id];
    slot.type = value.type;
    slot.ready = true;
    if (value.type.kind == ValueType::Kind::kLayout) {
      if (!inputs_.layout) return InvalidArgumentError("input {} has no layout", value.name);
      slot.type.shape = {inputs_.layout->tokens, inputs_.layout->sequences};
    } else if (value.type.kind == ValueType::Kind::kKvCache) {
      const auto found = inputs_.caches.find(value.name);
      if (found == inputs_.caches.end())
        return InvalidArgumentError("input {} has no cache", value.name);
      slot.cache = found->second;
      slot.type.shape = {slot.cache->kv_heads, slot.cache->head_dim};
    } else {
      const auto found = inputs_.tensors.find(value.name);
      if (found == inputs_.tensors.end())
        return InvalidArgumentError("input {} has no value", value.name);
      slot.tensor = found->second;
      slot.type = ConcreteType(slot.tensor.shape, value.type.dtype);
      if (static_cast<int64_t>(slot.tensor.data.size()) != slot.tensor.shape.elements())
        return InvalidArgumentError("input {} has {} elements, its shape is {}", value.name,
                                    slot.tensor.data.size(), slot.tensor.shape.ToString());
    }
    return OkStatus();
  }

  // A constant's value; others are ready already.
  Status Load(ValueId id) {
    const Value& value = graph_.value(id);
    Slot& slot = slots_[id];
    if (slot.ready) return OkStatus();
    if (!value.constant) return InvalidArgumentError("{} has no value", value.name);
    const Recipe& recipe = *value.constant;
    slot.type = value.type;
    TBOOST_ASSIGN_OR_RETURN(slot.tensor.shape, ConcreteShape(value.type));
    slot.tensor.data.resize(slot.tensor.shape.elements());
    if (recipe.rows * recipe.columns != slot.tensor.shape.elements())
      return InvalidArgumentError("constant {} is {}, its recipe has {} rows of {}", value.name,
                                  slot.tensor.shape.ToString(), recipe.rows, recipe.columns);
    std::string storage;
    for (int64_t row = 0; row < recipe.rows; ++row) {
      TBOOST_ASSIGN_OR_RETURN(const std::string_view bytes,
                              EvaluateRecipeRows(recipe, row, 1, source_, storage));
      RowToDouble(recipe.dtype, bytes, recipe.columns,
                  slot.tensor.data.data() + row * recipe.columns);
    }
    slot.ready = true;
    return OkStatus();
  }

  Status RunNode(const Node& node) {
    std::vector<ValueType> types(node.inputs.size());
    std::vector<RefOperand> operands(node.inputs.size());
    const auto present = std::make_unique<bool[]>(node.inputs.size());
    RefKvCache* cache = nullptr;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const ValueId id = node.inputs[i];
      present[i] = id != kNone;
      if (id == kNone) continue;
      TBOOST_RETURN_IF_ERROR(Load(id));
      const Slot& slot = slots_[id];
      types[i] = slot.type;
      operands[i].dtype = slot.type.dtype;
      if (slot.type.kind == ValueType::Kind::kTensor) operands[i].tensor = &slot.tensor;
      if (slot.type.kind == ValueType::Kind::kLayout) operands[i].layout = inputs_.layout;
      if (slot.type.kind == ValueType::Kind::kKvCache) operands[i].cache = cache = slot.cache;
    }
    TBOOST_ASSIGN_OR_RETURN(
        std::vector<ValueType> output_types,
        node.op->infer(types, {present.get(), node.inputs.size()}, node.attributes));
    std::vector<RefTensor> outputs(output_types.size());
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (output_types[i].kind != ValueType::Kind::kTensor) continue;
      TBOOST_ASSIGN_OR_RETURN(outputs[i].shape, ConcreteShape(output_types[i]));
      outputs[i].data.resize(outputs[i].shape.elements());
    }
    TBOOST_RETURN_IF_ERROR(node.op->reference({operands, outputs, &node.attributes}));
    for (size_t i = 0; i < outputs.size(); ++i) {
      Slot& slot = slots_[node.outputs[i]];
      slot.ready = true;
      slot.cache = output_types[i].kind == ValueType::Kind::kKvCache ? cache : nullptr;
      slot.type = std::move(output_types[i]);
      slot.tensor = std::move(outputs[i]);
    }
    Release(node);
    return OkStatus();
  }

  void Release(const Node& node) {
    for (ValueId id : node.inputs)
      if (id != kNone && --slots_[id].uses == 0) slots_[id].tensor = {};
    for (ValueId id : node.outputs)
      if (slots_[id].uses == 0) slots_[id].tensor = {};
  }

  const Graph& graph_;
  const InterpreterInputs& inputs_;
  SourceBytes source_;
  std::vector<Slot> slots_;
};

}  // namespace

ValueType ConcreteType(const Shape& shape, DType dtype) {
  ValueType out;
  out.dtype = dtype;
  out.shape.assign(shape.begin(), shape.end());
  return out;
}

Result<Shape> ConcreteShape(const ValueType& type) {
  std::vector<int64_t> dims;
  for (const Dim& dim : type.shape) {
    if (!dim.constant()) return InvalidArgumentError("dimension {} is not known", dim.ToString());
    dims.push_back(*dim.constant());
  }
  if (!CheckedElements(dims))
    return InvalidArgumentError("a tensor of {} elements", fmt::join(dims, " x "));
  return Shape(std::span<const int64_t>(dims));
}

Result<std::vector<RefTensor>> Interpret(const Graph& graph, const InterpreterInputs& inputs,
                                         std::span<const ValueId> wanted, SourceBytes source) {
  return Interpreter(graph, inputs, source).Run(wanted);
}

Result<std::map<std::string, RefTensor>> InterpretOutputs(const Graph& graph,
                                                          const InterpreterInputs& inputs,
                                                          SourceBytes source) {
  std::vector<ValueId> wanted;
  for (const auto& [name, id] : graph.outputs()) wanted.push_back(id);
  TBOOST_ASSIGN_OR_RETURN(std::vector<RefTensor> tensors, Interpret(graph, inputs, wanted, source));
  std::map<std::string, RefTensor> out;
  for (size_t i = 0; i < wanted.size(); ++i)
    if (graph.value(wanted[i]).type.kind == ValueType::Kind::kTensor)
      out.emplace(graph.outputs()[i].first, std::move(tensors[i]));
  return out;
}

}  // namespace tboost
