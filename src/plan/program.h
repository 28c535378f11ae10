// Program: an optimised graph together with where each of its values lives while it runs.
//
// Planning is machine-independent and takes well under a millisecond, so an .om stores the
// optimised graph and every load plans it: what the plan relies on has then been verified by the
// graph's own checks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/base/status.h"
#include "src/graph/graph.h"
#include "src/graph/op_record.h"

namespace tboost {

// The symbols of a step: what sizes of values are functions of. Lengths of sequences are data.
struct StepShape {
  int64_t tokens = 0;
  int64_t sequences = 0;
  int64_t outputs = 0;  // rows of logits asked for
  int64_t best = 0;     // of each of them only so many of the largest; 0: all
  bool operator==(const StepShape&) const = default;
  SymbolValues Symbols() const {
    return {{"tokens", tokens}, {"sequences", sequences}, {"outputs", outputs}};
  }
};

// Where one value lives. Tensors that are views or are written in place share a buffer.
struct ProgramValue {
  int buffer = -1;               // index into Program::buffers; -1: a constant, a layout or a cache
  int64_t column = 0;            // first column within the buffer's rows
  int64_t row_stride = 0;        // elements between rows; 0: the value's own width
  uint64_t constant_offset = 0;  // of a constant: its bytes in the weights section
  uint64_t constant_bytes = 0;
};

// A run of memory that one or several values use, and its slot: buffers whose lives do not overlap
// share.
struct ProgramBuffer {
  ValueId shape_of = kNone;  // the value whose size it has
  int slot = -1;
};

struct Program {
  Graph graph;                       // compacted; its node order is the order of steps
  std::vector<ProgramValue> values;  // by ValueId
  std::vector<ProgramBuffer> buffers;
  int slots = 0;
  std::vector<ValueId> caches;  // kv cache inputs in layer order

  // Bytes of each slot and of the whole arena for a step's shape.
  Result<std::vector<uint64_t>> SlotBytes(const StepShape& shape) const;
  Result<uint64_t> ArenaBytes(const StepShape& shape) const;
};

// Bytes of a tensor value for these symbols.
Result<uint64_t> ValueBytes(const ValueType& type, const SymbolValues& symbols);

// Plans a verified graph whose constants lie in a weights section of `weights_bytes` bytes (recipes
// of kind kFile, file 0). A constant outside it, or with a size that does not fit its form, is
// kCorrupt.
Result<Program> PlanProgram(Graph graph, uint64_t weights_bytes);

// How a constant is stored: what its readers ask for. A constant read in both forms is an error.
Result<ConstantForm> FormOfConstant(const Graph& graph, ValueId value);
// Its bytes in that form.
Result<uint64_t> StoredBytes(const Recipe& recipe, ConstantForm form);

}  // namespace tboost
