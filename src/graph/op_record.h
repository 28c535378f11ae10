// OpRecord: everything known about one operator. `graph` defines the record, `ops` fills it (one
// file pair per operator), and suites, reports, the planner and the executor iterate over the
// records.
#pragma once

#include <array>
#include <cstddef>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "src/graph/graph.h"
#include "src/tensor/candidate.h"
#include "src/tensor/scratch.h"
#include "src/tensor/sequence_layout.h"
#include "src/tensor/tile_hint.h"
#include "src/tensor/view.h"

namespace tboost {

namespace kernels {
struct KernelTable;
}

// Work of one call, for reports and shares of the machine's limits.
struct Cost {
  double flops = 0;
  double bytes = 0;  // operands and results, once each
};

// A tensor of the reference interpreter: every element as double (integers too).
struct RefTensor {
  Shape shape;
  std::vector<double> data;
  int64_t columns() const { return shape.rank() ? shape.back() : 1; }
  int64_t rows() const { return columns() ? shape.elements() / columns() : 0; }
  double* row(int64_t i) { return data.data() + i * columns(); }
  const double* row(int64_t i) const { return data.data() + i * columns(); }
};

// A kv cache of the reference interpreter: keys and values of one layer per sequence, grown by
// steps.
struct RefKvCache {
  int kv_heads = 0, head_dim = 0;
  std::vector<std::vector<double>> keys, values;  // [sequence][position * kv_heads * head_dim ...]
};

// Operands of one reference call; exactly one of tensor, layout, cache is set per present operand.
struct RefOperand {
  const RefTensor* tensor = nullptr;
  DType dtype = DType::kF32;  // how the tensor is stored
  const SequenceLayout* layout = nullptr;
  RefKvCache* cache = nullptr;
};
struct RefCall {
  std::span<const RefOperand> inputs;  // an absent optional operand has nothing set
  std::span<RefTensor> outputs;        // shapes set, data sized and zero; cache outputs unused
  const Attributes* attributes = nullptr;
};

// One bound kernel call of a program: arguments by value and how to run a task of them.
struct KernelCall {
  std::string_view kernel;      // for reports: "gemm", "attention"...
  std::string detail;           // how and why, for reports: "tile 64x768, f32 weights, avx512"
  DType compute = DType::kF32;  // what is multiplied: tells which of the machine's peaks applies
  int64_t (*tasks)(const void* args) = nullptr;
  size_t (*scratch)(const void* args) = nullptr;
  void (*fn)() = nullptr;  // the typed kernel, as `invoke` knows it
  void (*invoke)(void (*fn)(), const void* args, int64_t task, kernels::Scratch scratch) = nullptr;
  // What its tasks read from end to end in ascending order: weights. Null: nothing.
  const char* stream = nullptr;
  int64_t stream_bytes = 0;
  TileHint tile = {};  // of a product whose tile was chosen: how
  alignas(16) std::array<std::byte, 512> args;
};

// Wraps a kernel (or an operator's own plain function of the same form) and its arguments.
template <class Args>
KernelCall MakeKernelCall(std::string_view name,
                          void (*kernel)(const Args&, int64_t, kernels::Scratch), const Args& args,
                          int64_t (*tasks)(const Args&), size_t (*scratch)(const Args&)) {
  static_assert(sizeof(Args) <= sizeof(KernelCall::args) && std::is_trivially_copyable_v<Args>);
  // The typed functions travel with the arguments' type erased; each thunk casts back to what it
  // was.
  struct Bound {
    Args args;
    int64_t (*tasks)(const Args&);
    size_t (*scratch)(const Args&);
  };
  static_assert(sizeof(Bound) <= sizeof(KernelCall::args));
  KernelCall call;
  call.kernel = name;
  ::new (call.args.data()) Bound{args, tasks, scratch};
  call.fn = reinterpret_cast<void (*)()>(kernel);
  call.tasks = [](const void* p) {
    const Bound& b = *static_cast<const Bound*>(p);
    return b.tasks(b.args);
  };
  call.scratch = [](const void* p) {
    const Bound& b = *static_cast<const Bound*>(p);
    return b.scratch(b.args);
  };
  call.invoke = [](void (*fn)(), const void* p, int64_t task, kernels::Scratch scratch) {
    reinterpret_cast<void (*)(const Args&, int64_t, kernels::Scratch)>(fn)(
        static_cast<const Bound*>(p)->args, task, scratch);
  };
  return call;
}

// Where the best of each row of a result go: [rows][parts][count], each part in order.
struct BestRows {
  int64_t parts = 1;
  int64_t count = 0;
  Candidate* out = nullptr;
};

// What an operator gets to build its kernel call from, once per binding.
struct LowerContext {
  // Data is null for absent, layout and cache operands; a constant weight operand is its panels,
  // shape [n, k], dtype its format.
  std::span<const TensorView> inputs;
  std::span<const TensorView> outputs;
  const Attributes* attributes = nullptr;
  const SequenceLayout* layout = nullptr;  // the step's layout, filled before each run
  KvCacheView cache;                       // of the kv cache operand
  const kernels::KernelTable* kernels = nullptr;
  int threads = 1;
  int64_t l2_bytes = 0;
  TileChoice tiles = {};
  // Where set, they alone are wanted of output 0, which is not written. Of operators with `ranks`.
  const BestRows* best = nullptr;
};

// How a constant operand is stored in the .om.
enum class ConstantForm : uint8_t { kRows, kPanels };

// A test case of the generic suites: concrete operand types and attributes, drawn by the operator.
struct OpCase {
  std::string name;
  std::vector<ValueType> inputs;  // concrete shapes
  std::vector<bool> present;      // of optional operands
  Attributes attributes;
  std::vector<int32_t> lengths;  // of sequences, where a layout is an operand
  std::vector<int32_t> past;     // cached tokens per sequence
  int64_t index_limit = 0;       // i32 operands hold indices below this
  bool outliers = false;         // some channels 1e3 times larger
};

struct GradientContext {
  Graph* graph = nullptr;
  std::span<const ValueId> inputs, outputs;   // of the node
  std::span<const ValueId> output_gradients;  // kNone: not needed
  const Attributes* attributes = nullptr;
  std::string name;  // prefix for the nodes added
};

struct OperandSpec {
  std::string_view name;
  ValueType::Kind kind = ValueType::Kind::kTensor;
  bool optional = false;
  ConstantForm form = ConstantForm::kRows;  // if the operand is a constant
};

struct OpRecord {
  std::string_view name;  // "linear"
  std::string_view doc;   // one or two sentences with the formula
  std::vector<OperandSpec> inputs;
  std::vector<std::string_view> outputs;
  std::vector<AttributeSpec> attributes;

  // Output types from operand types (a type with kind tensor and empty shape stands for "absent";
  // see `present`). Checks operands and attributes.
  Result<std::vector<ValueType>> (*infer)(std::span<const ValueType> inputs,
                                          std::span<const bool> present,
                                          const Attributes& attributes) = nullptr;
  // The specification: straight loops in double.
  Status (*reference)(const RefCall& call) = nullptr;
  // Of views without data: dtypes and shapes (a layout's is [tokens, sequences]; an absent operand
  // has rank 0).
  Cost (*cost)(std::span<const TensorView> inputs, std::span<const TensorView> outputs,
               const Attributes& attributes) = nullptr;
  // The kernel call; null: only the reference runs it.
  Result<KernelCall> (*lower)(const LowerContext& context) = nullptr;
  // Gradients of the inputs (kNone where there is none) as nodes added to the graph; null: not
  // defined.
  Result<std::vector<ValueId>> (*gradient)(const GradientContext& context) = nullptr;
  std::vector<OpCase> (*cases)() = nullptr;
  // Of `lower` against `reference`, relative to the largest magnitude of the output.
  double tolerance = 1e-5;

  // Of few rows, doing all of it costs less than waiting until another thread has done a part.
  bool light = false;
  bool ranks = false;  // its `lower` heeds LowerContext::best
  // Output 0 may take the memory of this input when nobody reads it later; -1: never.
  int in_place_input = -1;
  // Output 0 is a view into input 0: no kernel runs. Gives the column offset and nothing moves.
  int64_t (*alias_columns)(const Attributes& attributes) = nullptr;
};

// The operators known to a compile or a load: the built-in list plus additions, passed in
// explicitly.
struct OpRegistry {
  std::vector<const OpRecord*> records;
  const OpRecord* Find(std::string_view name) const {
    for (const OpRecord* record : records)
      if (record->name == name) return record;
    return nullptr;
  }
};

}  // namespace tboost
