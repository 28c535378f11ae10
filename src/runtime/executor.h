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
#include "src/runtime/step_profile.h"
#include "src/tensor/candidate.h"
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
  // Where not 0, of each output row only so many of the largest logits are wanted: Outputs::Best
  // instead of "logits". Needs Executor::CanRank.
  int64_t best = 0;
  const CancelToken* cancel = nullptr;
};

struct Binding;
class Worker;

// A planned model bound to its weights. Weights, pool, hints and runtime must outlive it.
// Thread-safe: runs queue on the runtime.
class Executor {
 public:
  Executor(Runtime& runtime, const Program& program, const char* weights, const KvPool* kv_pool,
           const TileChoice& tiles = {});
  ~Executor();

  // What a caller sees of a finished step; valid within `read` only.
  class Outputs {
   public:
    // The output of that name; nullptr data where the model has none.
    TensorView Get(std::string_view name) const;
    // Where StepInputs::best was set, of each output row: at least its so many largest logits
    // (fewer where the others are -infinity or NaN), in no order, among candidates without an id.
    std::span<const Candidate> Best(int64_t row) const;

   private:
    friend class Executor;
    const Executor* executor_ = nullptr;
    const Binding* binding_ = nullptr;
  };

  // Runs one step and then `read`, while the arena is still leased. The caller has checked ids,
  // rows and lengths (src/plan/step_contract.h). kCancelled leaves the kv sequences as they were.
  Status Run(const StepInputs& inputs, FunctionRef<Status(const Outputs&)> read);

  // Whether steps can give the best logits alone.
  bool CanRank() const;

  // Forgets the times collected so far and collects them from now on.
  void EnableProfile();
  // One entry a step shape, the latest first. Shapes long unused are dropped.
  std::vector<StepProfile> Profile() const;
  // How often the workers of a step like the last one wait for each other, its end included.
  int64_t Barriers() const;
  // How many took part in it.
  int Workers() const;

 private:
  Result<Binding*> Bind(const StepShape& shape);
  Status FillInputs(const StepInputs& inputs, const StepShape& shape, Binding& binding);
  void Execute(Binding& binding, const CancelToken* cancel);
  void RunShare(Binding& binding, size_t index, const Worker& worker,
                const CancelToken* cancel) const;

  Runtime::State& runtime_;
  const Program& program_;
  const char* weights_;
  const KvPool* kv_pool_;
  const TileChoice tiles_;
  std::list<std::unique_ptr<Binding>> bindings_;  // most recently used first, bounded
  bool profile_enabled_ = false;
};

}  // namespace tboost
