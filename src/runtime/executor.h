// Executor: runs a Program on the runtime's threads.
#pragma once

#include <list>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/function_ref.h"
#include "src/plan/program.h"
#include "src/runtime/kv_cache.h"
#include "tboost/runtime.h"

namespace tboost {

// The part of one sequence in a step.
struct SequenceStep {
  std::span<const int32_t> ids;
  KvSequence* kv = nullptr;  // pages reserved for these tokens; null for models without a cache
};

// One step's operands. Spans must live until Run returns.
struct StepInputs {
  std::span<const SequenceStep> sequences = {};  // none may be empty
  std::span<const int32_t> token_type_ids = {};  // [tokens], or empty: all 0
  std::span<const int32_t> output_rows = {};     // tokens of the step whose logits are wanted
  const CancelToken* cancel = nullptr;
};

// One kernel call of a step. Times are worker 0's, summed over the runs that were measured: a call
// lasts from its first task to the end of the barrier behind it.
struct CallProfile {
  std::string name, op, kernel, detail;
  DType compute = DType::kF32;
  double seconds = 0;
  double waiting = 0;         // of those, at the barrier: for the others' last tasks
  Cost cost;                  // of one run
  double constant_bytes = 0;  // of the cost's bytes, those of weights
};

// The runs of one step shape.
struct StepProfile {
  StepShape shape;
  int64_t runs = 0;
  int64_t barriers = 0;  // passed in all runs
  double seconds = 0;    // of all runs, from the first call to the last barrier
  std::vector<CallProfile> calls;
};

struct Binding;

// A planned model bound to its weights. Weights, pool and runtime must outlive it. Thread-safe:
// runs queue on the runtime.
class Executor {
 public:
  Executor(Runtime& runtime, const Program& program, const char* weights, const KvPool* kv_pool);
  ~Executor();

  // What a caller sees of a finished step; valid within `read` only.
  class Outputs {
   public:
    // The output of that name; nullptr data where the model has none.
    TensorView Get(std::string_view name) const;

   private:
    friend class Executor;
    const Executor* executor_ = nullptr;
    const Binding* binding_ = nullptr;
  };

  // Runs one step and then `read`, while the arena is still leased. The caller has checked ids,
  // rows and lengths (src/plan/step_contract.h). kCancelled leaves the kv sequences as they were.
  Status Run(const StepInputs& inputs, FunctionRef<Status(const Outputs&)> read);

  // Forgets the times collected so far and collects them from now on.
  void EnableProfile();
  // One entry a step shape, the latest first. Shapes long unused are dropped.
  std::vector<StepProfile> Profile() const;

 private:
  Result<Binding*> Bind(const StepShape& shape);
  Result<std::unique_ptr<Binding>> MakeBinding(const StepShape& shape);
  TensorView View(ValueId value, const Binding& binding) const;
  Status FillInputs(const StepInputs& inputs, const StepShape& shape, Binding& binding);
  void Execute(Binding& binding, const CancelToken* cancel);

  Runtime::State& runtime_;
  const Program& program_;
  const char* weights_;
  const KvPool* kv_pool_;
  std::list<std::unique_ptr<Binding>> bindings_;  // most recently used first, bounded
  bool profile_enabled_ = false;
};

}  // namespace tboost
