#include <benchmark/benchmark.h>

#include "src/parallel/thread_pool.h"

namespace tboost {
namespace {

constexpr int kBarriersPerRegion = 1000;

// Empty barriers per second; argument: threads.
void BM_Barrier(benchmark::State& state) {
  auto pool = ThreadPool::Create(static_cast<int>(state.range(0)));
  for (auto _ : state) {
    (*pool)->Run([](Worker& worker) {
      for (int i = 0; i < kBarriersPerRegion; ++i) worker.Barrier();
    });
  }
  state.SetItemsProcessed(state.iterations() * kBarriersPerRegion);
}
BENCHMARK(BM_Barrier)->Arg(1)->Arg(2)->UseRealTime();

// An empty region: what one Run costs.
void BM_Region(benchmark::State& state) {
  auto pool = ThreadPool::Create(static_cast<int>(state.range(0)));
  for (auto _ : state) (*pool)->Run([](Worker& worker) { benchmark::DoNotOptimize(&worker); });
}
BENCHMARK(BM_Region)->Arg(1)->Arg(2)->Arg(4)->UseRealTime();

}  // namespace
}  // namespace tboost
