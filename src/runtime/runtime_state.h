// What a Runtime holds.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "src/base/cpu_features.h"
#include "src/kernels/kernels.h"
#include "src/parallel/thread_pool.h"
#include "src/parallel/topology.h"
#include "src/tensor/buffer.h"
#include "tboost/runtime.h"

namespace tboost {

struct Runtime::State {
  CpuTopology topology;
  std::string thread_reason;
  std::unique_ptr<ThreadPool> pool;
  Isa isa = Isa::kBaseline;
  const kernels::KernelTable* kernels = nullptr;
  int64_t l2_bytes = 0;
  bool prefetch = false;      // RuntimeOptions::prefetch
  bool every_thread = false;  // takes part in every step, however small; for tests

  // One run at a time leases these; they grow to the largest need, so several models share one
  // arena. Bindings hold addresses: `generation` counts reallocations.
  std::mutex lease;
  Buffer arena;
  std::vector<Buffer> scratch;  // one per worker
  uint64_t generation = 0;

  // Grows the arena and every worker's scratch. Needs the lease.
  Status Reserve(uint64_t arena_bytes, uint64_t scratch_bytes);
};

}  // namespace tboost
