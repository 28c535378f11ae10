// The runtime: threads and working memory, shared by all models of a process.
//
//   auto runtime = tboost::Runtime::Create();
//   if (!runtime.ok()) ...  // runtime.status().message()
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "tboost/status.h"

namespace tboost {

struct RuntimeOptions {
  // 0: as many as this process may use (affinity, cpuset, cgroup quota, physical cores). Steps with
  // little work use fewer of them.
  int threads = 0;
  // Threads that are done with an operator ask for the first weights of the next one while they
  // wait for the others. Changes no result; off, since it gained nothing where it was measured.
  bool prefetch = false;
};

// Asks running work to stop. Set from any thread or a signal handler; work that sees it returns
// kCancelled between tiles. Reset() before reuse.
class CancelToken {
 public:
  void Cancel() { cancelled_.store(true, std::memory_order_relaxed); }
  void Reset() { cancelled_.store(false, std::memory_order_relaxed); }
  bool cancelled() const { return cancelled_.load(std::memory_order_relaxed); }

 private:
  std::atomic<bool> cancelled_{false};
};

// Owns the thread pool and the arenas. Create one per process and pass it to every model, all of
// which it must outlive. Thread-safe: runs of several threads queue.
class Runtime {
 public:
  // kInvalidArgument: a number of threads below 0 or above 1024, or an instruction set that the
  // environment variable TBOOST_MAX_ISA names and there is none of. kResourceExhausted: the system
  // gives no more threads.
  static Result<std::unique_ptr<Runtime>> Create(const RuntimeOptions& options = {});
  // No run may be in progress.
  ~Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  int threads() const;                // the caller's own included
  std::string isa() const;            // of the kernels in use: "baseline", "avx2", "avx512_vnni"...
  std::string thread_reason() const;  // why that many threads, for people

  struct State;  // internal
  State& state() { return *state_; }

 private:
  explicit Runtime(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace tboost
