// A program with the addresses and sizes of one step shape: every kernel call, ready to run.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "src/parallel/range.h"
#include "src/plan/program.h"
#include "src/runtime/kv_cache.h"
#include "src/runtime/runtime_state.h"
#include "src/runtime/step_profile.h"

namespace tboost {

struct BoundCall {
  NodeId node = 0;
  // All workers meet before it: another may write what it reads, or read what it writes.
  bool meet = false;
  bool everywhere = false;  // every worker runs all of it, into memory of its own
};

struct Binding {
  StepShape shape;
  uint64_t generation = 0;
  int workers = 1;  // that take part: small steps are done sooner by few
  // Work is dealt out beforehand: a task is too short to queue for.
  bool divide_evenly = false;
  std::vector<BoundCall> calls;
  StepProfile profile;  // its calls match these
  // [workers][calls], or [1][calls] where all workers' are the same.
  std::vector<std::vector<KernelCall>> kernels;

  std::vector<Candidate> best;  // [outputs][parts][shape.best]
  // Refilled by each run; sized so that it allocates nothing.
  std::vector<TensorView> inputs, outputs;  // as in the graph
  SequenceLayout layout;
  std::vector<int32_t> offsets, past, pages, sequence_of;
  std::vector<int64_t> tasks;
  std::unique_ptr<ChunkCounter[]> counters;

  const KernelCall& Kernel(int worker, size_t call) const {
    return kernels[kernels.size() == 1 ? 0 : worker][call];
  }
  // The tasks of a worker where work is dealt out beforehand.
  Range ShareOf(size_t call, int worker) const {
    if (calls[call].everywhere) return {0, tasks[call]};
    return StaticRange(tasks[call], worker, workers);
  }
  // How often a step's workers wait for each other, its end included.
  int64_t Barriers() const;
};

// The node that gives the logits, if it can give the best of them alone; else kNone.
NodeId RankedNode(const Program& program);

// Needs the runtime's lease, which also guards the arena that the binding points into.
Result<std::unique_ptr<Binding>> MakeBinding(Runtime::State& runtime, const Program& program,
                                             const char* weights, const KvPool* kv_pool,
                                             const TileChoice& tiles, const StepShape& shape);

}  // namespace tboost
