#include "src/parallel/thread_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <ctime>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

namespace tboost {
namespace {

std::unique_ptr<ThreadPool> MakePool(int threads) {
  Result<std::unique_ptr<ThreadPool>> pool = ThreadPool::Create(threads);
  EXPECT_TRUE(pool.ok()) << pool.status().message();
  return *std::move(pool);
}

double ProcessCpuSeconds() {
  timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

TEST(ThreadPoolTest, RefusesBadThreadCounts) {
  for (int threads : {-1, 0, ThreadPool::kMaxThreads + 1}) {
    const auto pool = ThreadPool::Create(threads);
    ASSERT_FALSE(pool.ok());
    EXPECT_EQ(pool.status().code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(pool.status().message(), testing::HasSubstr(std::to_string(threads)));
  }
}

TEST(ThreadPoolTest, OneThreadRunsOnTheCaller) {
  const auto pool = MakePool(1);
  std::thread::id ran_on;
  pool->Run([&](Worker& worker) {
    EXPECT_EQ(worker.index(), 0);
    EXPECT_EQ(worker.count(), 1);
    worker.Barrier();
    ran_on = std::this_thread::get_id();
  });
  EXPECT_EQ(ran_on, std::this_thread::get_id());
}

TEST(ThreadPoolTest, EveryWorkerRunsOnceAndTheCallerIsNumberZero) {
  for (int threads : {2, 3, 8}) {
    const auto pool = MakePool(threads);
    ASSERT_EQ(pool->size(), threads);
    std::vector<int> calls(threads);
    std::vector<std::thread::id> ids(threads);
    pool->Run([&](Worker& worker) {
      EXPECT_EQ(worker.count(), threads);
      ++calls[worker.index()];
      ids[worker.index()] = std::this_thread::get_id();
    });
    EXPECT_THAT(calls, testing::Each(1));
    EXPECT_EQ(ids[0], std::this_thread::get_id());
  }
}

// Each step every worker reads what its neighbours wrote in the step before: a barrier that lets
// anyone through early, or a region that ends early, gives a wrong sum.
int WrongRegions(ThreadPool& pool, int regions, int max_barriers, uint32_t seed) {
  std::mt19937 random(seed);
  const int count = pool.size();
  std::vector<int64_t> now(count), next(count);
  int wrong = 0;
  for (int region = 0; region < regions; ++region) {
    const int barriers = static_cast<int>(random() % (max_barriers + 1));
    std::fill(now.begin(), now.end(), 1);
    pool.Run([&](Worker& worker) {
      const int me = worker.index(), neighbour = (me + 1) % worker.count();
      for (int step = 0; step < barriers; ++step) {
        next[me] = now[me] + now[neighbour];
        worker.Barrier();
        now[me] = next[me];
        worker.Barrier();
      }
    });
    if (now != std::vector<int64_t>(count, int64_t{1} << barriers)) ++wrong;
  }
  return wrong;
}

TEST(ThreadPoolTest, RegionsAndBarriersKeepOrder) {
  EXPECT_EQ(WrongRegions(*MakePool(2), 2000, 20, 1), 0);
  EXPECT_EQ(WrongRegions(*MakePool(3), 300, 20, 2), 0);
  EXPECT_EQ(WrongRegions(*MakePool(9), 50, 20, 3), 0);
}

TEST(ThreadPoolTest, WakesAfterSleep) {
  const auto pool = MakePool(2);
  for (int i = 0; i < 20; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    int calls[2] = {};
    pool->Run([&](Worker& worker) {
      // One of the two is late by more than the spinning time, so that the other sleeps.
      if (worker.index() == i % 2) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      worker.Barrier();
      ++calls[worker.index()];
    });
    ASSERT_EQ(calls[0] + calls[1], 2);
  }
}

TEST(ThreadPoolTest, ConcurrentRunsQueue) {
  const auto pool = MakePool(2);
  std::atomic<int> regions_inside{0};
  std::vector<std::thread> callers;
  std::vector<int64_t> sums(4);
  for (int caller = 0; caller < 4; ++caller) {
    callers.emplace_back([&, caller] {
      for (int i = 0; i < 300; ++i) {
        int64_t parts[2] = {};
        pool->Run([&](Worker& worker) {
          if (worker.index() == 0) {
            EXPECT_EQ(regions_inside.fetch_add(1), 0);
          }
          parts[worker.index()] = i;
          worker.Barrier();
          if (worker.index() == 0) regions_inside.fetch_sub(1);
        });
        sums[caller] += parts[0] + parts[1];
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_THAT(sums, testing::Each(300 * 299));
}

TEST(ThreadPoolTest, DynamicChunksAreTakenOnce) {
  const auto pool = MakePool(3);
  std::vector<int> taken(5000);
  ChunkCounter counter;
  const int64_t count = static_cast<int64_t>(taken.size());
  pool->Run([&](Worker&) {
    for (int64_t i; (i = counter.Next()) < count;) ++taken[i];
  });
  EXPECT_THAT(taken, testing::Each(1));
}

TEST(ThreadPoolTest, AnIdlePoolCostsNothing) {
  const auto pool = MakePool(4);
  pool->Run([](Worker& worker) { worker.Barrier(); });
  const double before = ProcessCpuSeconds();
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  // 50 ms in ten seconds, in proportion.
  EXPECT_LE(ProcessCpuSeconds() - before, 0.0025);
}

}  // namespace
}  // namespace tboost
