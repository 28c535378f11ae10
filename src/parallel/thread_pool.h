// Fork-join thread pool of the kernels.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "src/base/function_ref.h"
#include "src/base/status.h"
#include "src/parallel/range.h"

namespace tboost {

class ThreadPool;

// What one participant of a region sees.
class Worker {
 public:
  int index() const { return index_; }  // 0 is the thread that called Run
  int count() const { return count_; }  // participants of the region
  // Returns when every worker of the region has called it as often: what they wrote before is seen
  // after. All workers must make the same number of calls.
  void Barrier();

 private:
  friend class ThreadPool;
  Worker(ThreadPool* pool, int index, int count) : pool_(pool), index_(index), count_(count) {}
  ThreadPool* pool_;
  int index_;
  int count_;
};

// `size()` threads, the caller of Run being one of them. A waiting thread spins for some
// microseconds (not at all where there are more threads than processors), offers its processor to
// others for a fraction of a millisecond more, and then sleeps: an idle pool costs nothing. Memory
// written before Run is seen by the workers, and theirs after it.
class ThreadPool {
 public:
  static constexpr int kMaxThreads = 1024;

  // 1 <= threads <= kMaxThreads.
  static Result<std::unique_ptr<ThreadPool>> Create(int threads);
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;
  ~ThreadPool();  // no Run may be in progress

  int size() const { return static_cast<int>(threads_.size()) + 1; }

  // Calls `body` once on each of `workers` workers, at least 1, at most size(), and returns when
  // all have returned. Any thread may call it; concurrent calls queue (those of one worker simply
  // run). `body` must neither throw nor call Run of the same pool.
  void Run(int workers, FunctionRef<void(Worker&)> body);
  void Run(FunctionRef<void(Worker&)> body) { Run(size(), body); }

 private:
  friend class Worker;
  using Counter = std::atomic<uint32_t>;

  explicit ThreadPool(bool spin) : spin_(spin) {}
  void Serve(int index);
  void Barrier(uint32_t count);
  // Returns when `counter` no longer reads `old`.
  void AwaitChange(const Counter& counter, uint32_t old) const;

  const bool spin_;
  std::mutex run_mutex_;                              // held by the region in progress
  const FunctionRef<void(Worker&)>* body_ = nullptr;  // of that region; null: the threads end
  int workers_ = 1;                                   // of that region
  std::vector<std::thread> threads_;
  // On a cache line each: all are spun upon by some and written by others.
  alignas(64) Counter region_{0};      // regions begun
  alignas(64) Counter running_{0};     // threads still in the region
  alignas(64) Counter arrived_{0};     // workers at the barrier
  alignas(64) Counter generation_{0};  // barriers passed
};

inline void Worker::Barrier() {
  if (count_ > 1) pool_->Barrier(static_cast<uint32_t>(count_));
}

}  // namespace tboost
