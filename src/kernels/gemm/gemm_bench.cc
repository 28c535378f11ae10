// Rates of the matrix product on one thread. Many rows: GFLOP/s and the share of this core's
// measured peak; one row: GB/s of weights read from memory, and the share of the measured read
// bandwidth.
#include <benchmark/benchmark.h>
#include <immintrin.h>
#include <time.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "src/base/cpu_features.h"
#include "src/base/random.h"
#include "src/kernels/kernels.h"
#include "src/tensor/buffer.h"

namespace tboost::kernels {
namespace {

// Processor time of this thread, so that other processes on the machine count less.
double ThreadSeconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}
double SecondsOf(const auto& work) {
  const double start = ThreadSeconds();
  work();
  return ThreadSeconds() - start;
}

// Rounds of multiply-adds in 12 independent chains.
constexpr int kChains = 12, kPeakRounds = 200000;
#define TBOOST_FMA(v, r) "vfmadd231ps %%" v #r ", %%" v #r ", %%" v #r "\n\t"
#define TBOOST_MUL_ADD(v, r) "mulps %%" v #r ", %%" v #r "\n\taddps %%" v #r ", %%" v #r "\n\t"
#define TBOOST_CHAINS(op, v)                                                                     \
  for (int i = 0; i < kPeakRounds; ++i)                                                          \
  asm volatile(op(v, 0) op(v, 1) op(v, 2) op(v, 3) op(v, 4) op(v, 5) op(v, 6) op(v, 7) op(v, 8)  \
                   op(v, 9) op(v, 10) op(v, 11)::                                                \
                       : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", \
                         "xmm9", "xmm10", "xmm11")
void FmaAvx512() { TBOOST_CHAINS(TBOOST_FMA, "zmm"); }
void FmaAvx2() { TBOOST_CHAINS(TBOOST_FMA, "ymm"); }
void MultiplyAddBaseline() { TBOOST_CHAINS(TBOOST_MUL_ADD, "xmm"); }
#undef TBOOST_CHAINS
#undef TBOOST_FMA
#undef TBOOST_MUL_ADD

// Floating-point operations a second of one core; the best of a few runs.
double PeakFlops(Isa isa) {
  const int lanes = isa == Isa::kAvx512 ? 16 : isa == Isa::kAvx2 ? 8 : 4;
  double best = 0;
  for (int run = 0; run < 20; ++run) {
    const double seconds = SecondsOf([&] {
      isa == Isa::kAvx512 ? FmaAvx512() : isa == Isa::kAvx2 ? FmaAvx2() : MultiplyAddBaseline();
    });
    best = std::max(best, 2.0 * lanes * kChains * kPeakRounds / seconds);
  }
  return best;
}

constexpr size_t kStreamBytes = size_t{192} << 20;  // beyond any cache of this kind of machine

[[gnu::target("avx2")]] void ReadAll(const Buffer& buffer) {
  __m256i sum = _mm256_setzero_si256();
  for (size_t i = 0; i < buffer.size(); i += 64) {
    const auto* line = reinterpret_cast<const __m256i*>(buffer.data() + i);
    sum = _mm256_xor_si256(sum, _mm256_xor_si256(line[0], line[1]));
  }
  asm volatile("" ::"x"(sum));
}

double ReadBandwidth() {
  const Buffer buffer = std::move(*Buffer::Allocate(kStreamBytes));
  std::memset(buffer.data(), 1, buffer.size());  // pages never written to are all one page
  double best = 0;
  for (int run = 0; run < 20; ++run)
    best = std::max(best, kStreamBytes / SecondsOf([&] { ReadAll(buffer); }));
  return best;
}

struct Shape {
  int64_t n, k;
};

void RunGemm(benchmark::State& state, Isa isa, DType dtype, int64_t m, Shape shape) {
  static const double bandwidth = ReadBandwidth();
  static std::map<Isa, double> peaks;
  double& peak = peaks[isa];
  if (peak == 0) peak = PeakFlops(isa);

  const size_t bytes = *PackedBytes(dtype, shape.n, shape.k);
  // One row: as many copies as no cache holds, in turn.
  const size_t copies = m == 1 ? std::max<size_t>(1, kStreamBytes / bytes) : 1;
  const Buffer panels = std::move(*Buffer::Allocate(copies * bytes));
  const HashRandom random(1, "panels");
  for (size_t i = 0; i < panels.size(); i += 64) {  // numbers between 0.5 and 1 or about, any codes
    for (size_t j = 0; j < 64; j += 2) panels.data()[i + j + 1] = 0x38;
    panels.data()[i] = static_cast<char>(random.Bits(i));
  }
  std::vector<float> a(m * shape.k, 0.5f), c(m * shape.n);
  GemmArgs args;
  args.m = m, args.n = shape.n, args.k = shape.k;
  args.a = a.data(), args.lda = shape.k;
  args.c = c.data(), args.ldc = shape.n;
  args.weight_dtype = dtype;
  ChooseTile(args, 1, 1 << 20);
  const Buffer memory = std::move(*Buffer::Allocate(ScratchBytes(args)));
  const Scratch scratch = {memory.data(), memory.size()};
  const KernelTable& table = Kernels(isa);
  size_t copy = 0;
  double best = 1e9;
  for (auto _ : state) {
    args.panels = panels.data() + copy++ % copies * bytes;
    best = std::min(best, SecondsOf([&] {
                      for (int64_t task = 0; task < Tasks(args); ++task)
                        table.gemm(args, task, scratch);
                    }));
  }
  const double flops = 2.0 * static_cast<double>(m * shape.n * shape.k) / best;
  const double rate = static_cast<double>(bytes) / best;
  state.counters["GFLOP/s"] = flops * 1e-9;
  state.counters["of_peak"] = flops / peak;
  if (m == 1) state.counters["GB/s"] = rate * 1e-9;
  if (m == 1) state.counters["of_bandwidth"] = rate / bandwidth;
}

bool Register() {
  const Isa highest = SelectedIsa().ok() ? *SelectedIsa() : Isa::kBaseline;
  const Shape bert[] = {{768, 768}, {3072, 768}, {768, 3072}};
  const Shape smol[] = {{576, 576}, {3072, 576}, {576, 1536}, {49152, 576}};
  const auto add = [&](Isa isa, DType dtype, int64_t m, Shape shape) {
    if (!PanelBytes(dtype, shape.k) || Info(dtype).row_bytes > 0) return;
    const std::string name = std::string(IsaName(isa)) + "/" + std::string(DTypeName(dtype)) +
                             "/m" + std::to_string(m) + "/n" + std::to_string(shape.n) + "/k" +
                             std::to_string(shape.k);
    benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) {
      RunGemm(state, isa, dtype, m, shape);
    })->MinTime(0.2);
  };
  for (const Isa isa : {Isa::kBaseline, Isa::kAvx2, Isa::kAvx512}) {
    if (isa > highest) continue;
    for (const DTypeInfo& info : AllDTypes())
      for (const int64_t m : {1, 4, 8, 32, 128, 512}) {
        for (const Shape shape : bert) add(isa, info.dtype, m, shape);
        for (const Shape shape : smol)
          if (m == 1 || shape.n < 49152) add(isa, info.dtype, m, shape);
      }
  }
  return true;
}
const bool kRegistered = Register();

}  // namespace
}  // namespace tboost::kernels
