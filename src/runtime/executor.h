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

// Time of one step of a program, summed over calls.
struct StepProfile {
  std::string name, op, kernel;
  double seconds = 0;
  Cost cost;  // of all calls
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

  // Collects times per step from now on.
  void EnableProfile();
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
  std::vector<StepProfile> profile_;
};

}  // namespace tboost
