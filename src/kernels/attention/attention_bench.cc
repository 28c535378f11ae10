// Attention on one thread. FLOP/s counts scores and outputs of the keys that are seen; decoding
// reports the bytes of keys and values read.
#include <benchmark/benchmark.h>

#include "src/base/cpu_features.h"
#include "src/kernels/attention/attention_testing.h"

namespace tboost::kernels {
namespace {

void Prefill(benchmark::State& state, Isa isa, const AttentionShape& shape) {
  const int length = static_cast<int>(state.range(0));
  const AttentionProblem problem(shape, {length}, 1);
  const std::vector<int32_t> offsets = {0, length}, past = {0};
  SequenceLayout layout;
  layout.sequences = 1;
  layout.tokens = length;
  layout.offsets = offsets.data();
  layout.past = past.data();
  std::vector<float> out(static_cast<size_t>(length) * problem.row());
  AttentionArgs args = problem.Args();
  args.layout = &layout;
  args.out = out.data();
  for (auto _ : state) RunKernel(Kernels(isa).attention, args);
  const double pairs = shape.causal ? 0.5 * length * (length + 1.0) : 1.0 * length * length;
  state.counters["FLOP/s"] =
      benchmark::Counter(pairs * 4 * problem.row(), benchmark::Counter::kIsIterationInvariantRate);
}

void Decode(benchmark::State& state, Isa isa, const AttentionShape& shape) {
  const int length = static_cast<int>(state.range(0));
  TestCache cache(shape.kv_heads, shape.head_dim, DType::kF32, {length});
  std::fill(cache.memory.begin(), cache.memory.end(), std::byte{0});
  const AttentionProblem problem(shape, {1}, 1);
  const std::vector<int32_t> offsets = {0, 1}, past = {length - 1};
  const SequenceLayout layout = {
      1, 1, offsets.data(), past.data(), cache.pages.data(), cache.max_pages, nullptr};
  std::vector<float> out(problem.row());
  AttentionArgs args = problem.Args();
  args.k = args.v = nullptr;
  args.cache = cache.view;
  args.layout = &layout;
  args.out = out.data();
  for (auto _ : state) RunKernel(Kernels(isa).attention, args);
  state.SetBytesProcessed(state.iterations() * length * 2 * shape.kv_heads * shape.head_dim *
                          int64_t{sizeof(float)});
}

const bool kRegistered = [] {
  for (const Isa isa : {Isa::kBaseline, Isa::kAvx2, Isa::kAvx512}) {
    if (isa > DetectIsa()) continue;
    const std::string name(IsaName(isa));
    const AttentionShape encoder = {.heads = 12, .kv_heads = 12, .head_dim = 64};
    const AttentionShape narrow = {.heads = 12, .kv_heads = 12, .head_dim = 32};
    const AttentionShape decoder = {.heads = 9, .kv_heads = 3, .head_dim = 64, .causal = true};
    const AttentionShape wide = {.heads = 4, .kv_heads = 1, .head_dim = 256, .causal = true};
    benchmark::RegisterBenchmark(("attention/encoder/" + name).c_str(), Prefill, isa, encoder)
        ->Arg(128)
        ->Arg(1024)
        ->Arg(4096);
    benchmark::RegisterBenchmark(("attention/narrow/" + name).c_str(), Prefill, isa, narrow)
        ->Arg(128)
        ->Arg(512);
    benchmark::RegisterBenchmark(("attention/causal/" + name).c_str(), Prefill, isa, decoder)
        ->Arg(512)
        ->Arg(4096);
    benchmark::RegisterBenchmark(("attention/wide/" + name).c_str(), Prefill, isa, wide)->Arg(1024);
    benchmark::RegisterBenchmark(("attention/decode/" + name).c_str(), Decode, isa, decoder)
        ->Arg(1024)
        ->Arg(65536);
    benchmark::RegisterBenchmark(("attention/decode_wide/" + name).c_str(), Decode, isa, wide)
        ->Arg(65536);
  }
  return true;
}();

}  // namespace
}  // namespace tboost::kernels
