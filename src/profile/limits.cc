#include "src/profile/limits.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "src/kernels/kernels.h"
#include "src/parallel/topology.h"
#include "src/tensor/buffer.h"

namespace tboost {
namespace {

using kernels::PeakArgs;
using kernels::PeakKind;

constexpr int kRuns = 8;
constexpr double kRunSeconds = 8e-3;
constexpr int64_t kBlockUnit = 1024;         // PeakArgs::bytes is a multiple of it
constexpr int64_t kMemoryBlock = 128 << 20;  // of a thread; beyond the caches

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Runs one peak loop on every thread: work a second of all of them.
double RateOnce(ThreadPool& pool, const kernels::KernelTable& table,
                const std::vector<PeakArgs>& args) {
  double seconds = 0;
  std::vector<double> work(args.size());
  pool.Run([&](Worker& worker) {
    PeakArgs mine = args[worker.index()];
    mine.work = &work[worker.index()];
    worker.Barrier();
    const double start = Now();
    table.peak(mine, 0, {});
    worker.Barrier();
    if (worker.index() == 0) seconds = Now() - start;
  });
  double sum = 0;
  for (double w : work) sum += w;
  return sum / seconds;
}

// The best of several runs, each of about kRunSeconds.
double BestRate(ThreadPool& pool, const kernels::KernelTable& table, std::vector<PeakArgs> args) {
  const auto set_rounds = [&](int64_t rounds) {
    for (PeakArgs& each : args) each.rounds = rounds;
  };
  int64_t rounds = 1;
  for (double seconds = 0; seconds < kRunSeconds; rounds *= 2) {
    set_rounds(rounds);
    const double start = Now();
    RateOnce(pool, table, args);
    seconds = Now() - start;
  }
  double best = 0;
  for (int run = 0; run < kRuns; ++run) best = std::max(best, RateOnce(pool, table, args));
  return best;
}

// What each instruction set multiplies faster than those before it.
constexpr struct {
  Isa isa;
  DType type;
  PeakKind kind;
} kKinds[] = {
    {Isa::kBaseline, DType::kF32, PeakKind::kF32},
    {Isa::kAvx2, DType::kF32, PeakKind::kF32},
    {Isa::kAvx512, DType::kF32, PeakKind::kF32},
    {Isa::kAvx512Bf16, DType::kBF16, PeakKind::kBF16},
    {Isa::kAvx2, DType::kI8, PeakKind::kInt8},
    {Isa::kAvx2Vnni, DType::kI8, PeakKind::kInt8},
    {Isa::kAvx512Vnni, DType::kI8, PeakKind::kInt8},
};

void MeasurePeaks(ThreadPool& pool, std::span<const Isa> isas, Limits& limits) {
  for (const auto& [isa, type, kind] : kKinds) {
    if (std::ranges::count(isas, isa) == 0) continue;
    PeakArgs args;
    args.kind = kind;
    const std::vector<PeakArgs> each(static_cast<size_t>(pool.size()), args);
    limits.peaks.push_back({isa, type, BestRate(pool, kernels::Kernels(isa), each)});
  }
}

Status MeasureReads(ThreadPool& pool, Limits& limits) {
  const auto threads = static_cast<uint64_t>(pool.size());
  const CpuTopology topology = ReadTopology();
  // What all threads together find there, and how much of it the measured blocks fill.
  const ReadRate levels[] = {{"L1", topology.l1d_bytes * threads},
                             {"L2", topology.l2_bytes * threads},
                             {"L3", topology.l3_bytes},
                             {"memory", UINT64_MAX}};
  std::vector<Buffer> blocks;
  for (uint64_t i = 0; i < threads; ++i) {
    TBOOST_ASSIGN_OR_RETURN(Buffer block, Buffer::Allocate(kMemoryBlock));
    std::fill_n(block.data(), block.size(), 1);  // pages never written to are all one page
    blocks.push_back(std::move(block));
  }
  uint64_t inner = 0;  // bytes that the levels before hold
  for (ReadRate level : levels) {
    if (level.holds <= inner) continue;
    const bool memory = level.holds == UINT64_MAX;
    // Half of a cache, or a block between it and the one before where that is less than double.
    const uint64_t filled = std::max(level.holds / 2, std::min(2 * inner, level.holds * 3 / 4));
    std::vector<PeakArgs> args(threads);
    for (uint64_t i = 0; i < threads; ++i) {
      args[i].kind = PeakKind::kRead;
      args[i].block = blocks[i].data();
      args[i].bytes = memory ? kMemoryBlock : static_cast<int64_t>(filled / threads);
      args[i].bytes = std::clamp(args[i].bytes / kBlockUnit * kBlockUnit, kBlockUnit, kMemoryBlock);
    }
    level.bytes_per_second = BestRate(pool, kernels::Kernels(limits.isa), args);
    limits.reads.push_back(level);
    inner = level.holds;
  }
  return OkStatus();
}

double MeasureBarrier(ThreadPool& pool) {
  constexpr int kBarriers = 100, kBatches = 101;
  std::vector<double> seconds(kBatches);
  pool.Run([&](Worker& worker) {
    for (double& batch : seconds) {
      const double start = Now();
      for (int i = 0; i < kBarriers; ++i) worker.Barrier();
      if (worker.index() == 0) batch = (Now() - start) / kBarriers;
    }
  });
  std::nth_element(seconds.begin(), seconds.begin() + kBatches / 2, seconds.end());
  return seconds[kBatches / 2];
}

}  // namespace

double Limits::Peak(DType type) const {
  for (auto peak = peaks.rbegin(); peak != peaks.rend(); ++peak)
    if (peak->type == type) return peak->per_second;
  return type == DType::kF32 ? 0 : Peak(DType::kF32);
}

double Limits::ReadBandwidth(double bytes) const {
  for (const ReadRate& level : reads)
    if (bytes <= static_cast<double>(level.holds)) return level.bytes_per_second;
  return reads.back().bytes_per_second;
}

double Limits::LeastSeconds(DType type, double operations, double constants,
                            double constants_of_model, double others) const {
  const double moving =
      constants / ReadBandwidth(constants_of_model) + others / ReadBandwidth(others);
  return std::max(operations / Peak(type), moving);
}

Result<Limits> MeasureLimits(ThreadPool& pool, std::span<const Isa> isas) {
  Limits limits;
  limits.threads = pool.size();
  limits.isa = isas.back();
  MeasurePeaks(pool, isas, limits);
  TBOOST_RETURN_IF_ERROR(MeasureReads(pool, limits));
  limits.barrier_seconds = MeasureBarrier(pool);
  return limits;
}

}  // namespace tboost
