#include "src/parallel/thread_pool.h"

#include <sched.h>

#include <chrono>
#include <new>
#include <system_error>

#include "src/parallel/topology.h"

namespace tboost {
namespace {

// Workers that each have a processor pass a barrier within the first; sharing one, they need each
// other to yield it. After the second the wait is long enough to be worth a sleep and a wake-up.
constexpr std::chrono::microseconds kSpinTime{20};
constexpr std::chrono::microseconds kYieldTime{200};
constexpr int kPausesPerClock = 32;  // reading the clock costs about as much as a few pauses

inline void Pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

Result<std::unique_ptr<ThreadPool>> ThreadPool::Create(int threads) try {
  if (threads < 1 || threads > kMaxThreads)
    return InvalidArgumentError("thread count must be from 1 to {}, got {}", kMaxThreads, threads);
  const bool fits = threads <= static_cast<int>(AffinityCpus().size());
  std::unique_ptr<ThreadPool> pool(new ThreadPool(/*spin=*/fits));
  pool->threads_.reserve(threads - 1);
  for (int i = 1; i < threads; ++i) pool->threads_.emplace_back(&ThreadPool::Serve, pool.get(), i);
  return pool;
} catch (const std::system_error& error) {
  return ResourceExhaustedError("cannot start {} threads: {}", threads, error.code().message());
} catch (const std::bad_alloc&) {
  return ResourceExhaustedError("cannot start {} threads: not enough memory", threads);
}

ThreadPool::~ThreadPool() {
  body_ = nullptr;
  region_.fetch_add(1);
  region_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void ThreadPool::Run(int workers, FunctionRef<void(Worker&)> body) {
  Worker caller(this, 0, workers);
  if (workers == 1) return body(caller);
  std::lock_guard lock(run_mutex_);
  body_ = &body;
  workers_ = workers;
  running_.store(static_cast<uint32_t>(threads_.size()), std::memory_order_relaxed);
  region_.fetch_add(1);
  region_.notify_all();
  body(caller);
  while (const uint32_t running = running_.load(std::memory_order_acquire))
    AwaitChange(running_, running);
}

void ThreadPool::Serve(int index) {
  // No region begins before every thread has left the one before, so none is ever missed.
  for (uint32_t seen = 0;; ++seen) {
    AwaitChange(region_, seen);
    if (body_ == nullptr) return;
    Worker worker(this, index, workers_);
    if (index < workers_) (*body_)(worker);
    if (running_.fetch_sub(1) == 1) running_.notify_one();
  }
}

void ThreadPool::Barrier(uint32_t count) {
  const uint32_t generation = generation_.load(std::memory_order_acquire);
  if (arrived_.fetch_add(1) + 1 < count) return AwaitChange(generation_, generation);
  // The last one: nobody touches arrived_ again before it has seen the new generation.
  arrived_.store(0, std::memory_order_relaxed);
  generation_.fetch_add(1);
  generation_.notify_all();
}

void ThreadPool::AwaitChange(const Counter& counter, uint32_t old) const {
  const auto changed = [&] { return counter.load(std::memory_order_acquire) != old; };
  if (changed()) return;
  const auto start = std::chrono::steady_clock::now();
  const auto elapsed = [&] { return std::chrono::steady_clock::now() - start; };
  while (spin_ && elapsed() < kSpinTime) {
    for (int i = 0; i < kPausesPerClock; ++i) {
      if (changed()) return;
      Pause();
    }
  }
  while (elapsed() < kYieldTime) {
    if (changed()) return;
    std::this_thread::yield();
  }
  counter.wait(old, std::memory_order_acquire);
}

}  // namespace tboost
