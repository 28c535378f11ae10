#include "src/plan/program.h"

#include <algorithm>
#include <limits>

#include "src/base/checked.h"
#include "src/tensor/panel.h"

namespace tboost {
namespace {

constexpr size_t kForever = std::numeric_limits<size_t>::max();
constexpr uint64_t kSlotAlignment = 64;
constexpr uint64_t kMostBytes = uint64_t{1} << 62;  // of a value, so that rounding up is safe

// Slots are chosen for a middling step; any step's arena is computed from its own shape.
constexpr StepShape kTypicalStep{256, 1, 1};

// Assigns buffers to values, then slots to buffers, walking the nodes once each.
class Planner {
 public:
  explicit Planner(Program& program) : program_(program), graph_(program.graph) {}

  Status Run() {
    program_.values.resize(graph_.values().size());
    FindLastUses();
    for (ValueId input : graph_.inputs()) AddInput(input);
    for (NodeId id = 0; id < graph_.nodes().size(); ++id) PlaceOutputs(id);
    return AssignSlots();
  }

 private:
  void FindLastUses() {
    last_use_.assign(graph_.values().size(), 0);
    for (NodeId id = 0; id < graph_.nodes().size(); ++id)
      for (ValueId input : graph_.node(id).inputs)
        if (input != kNone) last_use_[input] = id;
    for (const auto& [name, value] : graph_.outputs()) last_use_[value] = kForever;
  }

  bool IsTensor(ValueId value) const {
    return graph_.value(value).type.kind == ValueType::Kind::kTensor;
  }

  void AddInput(ValueId input) {
    if (graph_.value(input).type.kind == ValueType::Kind::kKvCache)
      program_.caches.push_back(input);
    if (IsTensor(input)) NewBuffer(input, 0);
  }

  void NewBuffer(ValueId value, size_t birth) {
    program_.values[value].buffer = static_cast<int>(program_.buffers.size());
    program_.buffers.push_back({value, -1});
    births_.push_back(birth);
    deaths_.push_back(std::max(birth, last_use_[value]));
  }

  void Join(ValueId value, ValueId host) {
    program_.values[value] = program_.values[host];
    size_t& death = deaths_[program_.values[host].buffer];
    death = std::max(death, last_use_[value]);
  }

  void PlaceOutputs(NodeId id) {
    const Node& node = graph_.node(id);
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      const ValueId output = node.outputs[i];
      // A further output that nobody reads gets no memory: kernels leave it out.
      if (!IsTensor(output) || (i > 0 && graph_.UseCount(output) == 0)) continue;
      if (i == 0 && node.op->alias_columns && OnBuffer(node.inputs[0])) {
        PlaceView(node, output);
      } else if (i == 0 && InPlace(node, id)) {
        Join(output, node.inputs[node.op->in_place_input]);
      } else {
        NewBuffer(output, id);
      }
    }
  }

  bool OnBuffer(ValueId value) const {
    return value != kNone && program_.values[value].buffer >= 0;
  }

  void PlaceView(const Node& node, ValueId output) {
    const ValueId whole = node.inputs[0];
    const auto width = graph_.value(whole).type.shape.back().constant();
    Join(output, whole);
    ProgramValue& place = program_.values[output];
    place.column += node.op->alias_columns(node.attributes);
    if (place.row_stride == 0) place.row_stride = width.value_or(0);
  }

  // Output 0 may take its operand's place where the operand's whole buffer is read for the last
  // time here.
  bool InPlace(const Node& node, NodeId id) const {
    const int index = node.op->in_place_input;
    if (index < 0 || index >= static_cast<int>(node.inputs.size())) return false;
    const ValueId input = node.inputs[index];
    if (!OnBuffer(input) || graph_.value(input).type != graph_.value(node.outputs[0]).type)
      return false;
    for (size_t i = 0; i < node.inputs.size(); ++i)
      if (static_cast<int>(i) != index && Overlap(node.inputs[i], input)) return false;
    return deaths_[program_.values[input].buffer] == id;
  }

  // Whether two values share bytes: views of one buffer may be different columns of it.
  bool Overlap(ValueId a, ValueId b) const {
    if (!OnBuffer(a) || !OnBuffer(b)) return false;
    const ProgramValue &x = program_.values[a], &y = program_.values[b];
    return x.buffer == y.buffer && x.column < y.column + Width(b) && y.column < x.column + Width(a);
  }

  int64_t Width(ValueId value) const {
    return graph_.value(value).type.shape.back().constant().value_or(1);
  }

  Status AssignSlots() {
    struct Slot {
      size_t busy_until;
      uint64_t bytes;
    };
    std::vector<Slot> slots;
    const SymbolValues symbols = kTypicalStep.Symbols();
    for (size_t b = 0; b < program_.buffers.size(); ++b) {
      ProgramBuffer& buffer = program_.buffers[b];
      TBOOST_ASSIGN_OR_RETURN(const uint64_t bytes,
                              ValueBytes(graph_.value(buffer.shape_of).type, symbols));
      // Of the free slots the one that grows, then wastes, least. A slot freed by the very node
      // that gives birth is still read by it.
      int best = -1;
      uint64_t best_cost = 0;
      for (size_t s = 0; s < slots.size(); ++s) {
        const bool free = slots[s].busy_until != kForever && slots[s].busy_until < births_[b];
        if (!free) continue;
        const uint64_t grow = bytes > slots[s].bytes ? bytes - slots[s].bytes : 0;
        const uint64_t waste = slots[s].bytes > bytes ? slots[s].bytes - bytes : 0;
        const uint64_t cost = grow * 2 + waste;
        if (best < 0 || cost < best_cost) best = static_cast<int>(s), best_cost = cost;
      }
      if (best < 0 || best_cost >= 2 * bytes) {
        best = static_cast<int>(slots.size());
        slots.push_back({0, bytes});
      }
      slots[best].bytes = std::max(slots[best].bytes, bytes);
      slots[best].busy_until = deaths_[b];
      buffer.slot = best;
    }
    program_.slots = static_cast<int>(slots.size());
    return OkStatus();
  }

  Program& program_;
  const Graph& graph_;
  std::vector<size_t> last_use_;  // by value: the last node that reads it
  // By buffer: the nodes that write it first and read it last.
  std::vector<size_t> births_, deaths_;
};

Status PlaceConstants(Program& program, uint64_t weights_bytes) {
  const Graph& graph = program.graph;
  for (ValueId id = 0; id < graph.values().size(); ++id) {
    const Value& value = graph.value(id);
    if (!value.constant) continue;
    const Recipe& recipe = *value.constant;
    if (recipe.kind != Recipe::Kind::kFile || recipe.file != 0)
      return CorruptError("constant {} does not lie in the weights section", value.name);
    TBOOST_ASSIGN_OR_RETURN(const ConstantForm form, FormOfConstant(graph, id));
    TBOOST_ASSIGN_OR_RETURN(const uint64_t bytes, StoredBytes(recipe, form));
    if (!InRange(recipe.offset, bytes, weights_bytes) || recipe.offset % 64 != 0)
      return CorruptError(
          "constant {} at offset {} with {} bytes does not fit the weights section ({} bytes)",
          value.name, recipe.offset, bytes, weights_bytes);
    program.values[id].constant_offset = recipe.offset;
    program.values[id].constant_bytes = bytes;
  }
  return OkStatus();
}

}  // namespace

Result<uint64_t> ValueBytes(const ValueType& type, const SymbolValues& symbols) {
  uint64_t elements = 1;
  for (const Dim& dim : type.shape) {
    TBOOST_ASSIGN_OR_RETURN(const int64_t size, dim.Evaluate(symbols));
    const auto product =
        size < 0 ? std::nullopt : CheckedMul(elements, static_cast<uint64_t>(size));
    if (!product) return OutOfRangeError("a value of {} elements is too large", dim.ToString());
    elements = *product;
  }
  const auto bytes = StorageBytes(type.dtype, elements);
  if (!bytes || *bytes > kMostBytes)
    return OutOfRangeError("a value of {} elements is too large", elements);
  return *bytes;
}

Result<ConstantForm> FormOfConstant(const Graph& graph, ValueId value) {
  bool rows = false, panels = false;
  for (NodeId user : graph.Users(value)) {
    const Node& node = graph.node(user);
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (node.inputs[i] != value) continue;
      (node.op->inputs[i].form == ConstantForm::kPanels ? panels : rows) = true;
    }
  }
  if (rows && panels)
    return UnsupportedError("constant {} is read both as rows and as packed panels",
                            graph.value(value).name);
  return panels ? ConstantForm::kPanels : ConstantForm::kRows;
}

Result<uint64_t> StoredBytes(const Recipe& recipe, ConstantForm form) {
  const auto rows = static_cast<uint64_t>(recipe.rows);
  std::optional<uint64_t> bytes;
  if (recipe.rows > 0 && recipe.columns > 0) {
    const auto elements = CheckedMul(rows, static_cast<uint64_t>(recipe.columns));
    bytes = form == ConstantForm::kPanels ? PackedBytes(recipe.dtype, recipe.rows, recipe.columns)
            : elements                    ? StorageBytes(recipe.dtype, *elements)
                                          : std::nullopt;
  }
  if (!bytes)
    return CorruptError("a constant of {} x {} {} has no size", recipe.rows, recipe.columns,
                        DTypeName(recipe.dtype));
  return *bytes;
}

Result<std::vector<uint64_t>> Program::SlotBytes(const StepShape& shape) const {
  std::vector<uint64_t> out(slots, 0);
  const SymbolValues symbols = shape.Symbols();
  for (const ProgramBuffer& buffer : buffers) {
    TBOOST_ASSIGN_OR_RETURN(const uint64_t bytes,
                            ValueBytes(graph.value(buffer.shape_of).type, symbols));
    out[buffer.slot] = std::max(out[buffer.slot], RoundUp(bytes, kSlotAlignment));
  }
  return out;
}

Result<uint64_t> Program::ArenaBytes(const StepShape& shape) const {
  TBOOST_ASSIGN_OR_RETURN(const std::vector<uint64_t> bytes, SlotBytes(shape));
  uint64_t total = 0;
  for (uint64_t b : bytes) {
    const auto sum = CheckedAdd(total, b);
    if (!sum) return OutOfRangeError("the arena is too large");
    total = *sum;
  }
  return total;
}

Result<Program> PlanProgram(Graph graph, uint64_t weights_bytes) {
  Program program;
  program.graph = std::move(graph);
  TBOOST_RETURN_IF_ERROR(Planner(program).Run());
  TBOOST_RETURN_IF_ERROR(PlaceConstants(program, weights_bytes));
  return program;
}

}  // namespace tboost
