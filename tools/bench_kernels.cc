// The cases of `tboost bench` that run a single kernel.
#include <chrono>

#include "src/profile/kernel_jobs.h"
#include "src/runtime/runtime_state.h"
#include "tools/bench_cases.h"
#include "tools/bench_report.h"

namespace tboost {
namespace {

Status MeasureJob(const std::string& name, const KernelJob& job, int threads,
                  const Repeats& repeats, const Limits* limits) {
  TBOOST_ASSIGN_OR_RETURN(std::vector<double> values, Repeat(repeats, [&]() -> Result<double> {
                            const auto start = std::chrono::steady_clock::now();
                            job.run();
                            const std::chrono::duration<double, std::milli> elapsed =
                                std::chrono::steady_clock::now() - start;
                            return elapsed.count();
                          }));
  Measurement measured{job.name, "med_ms", std::move(values), PeakMemoryMb()};
  measured.operations = job.operations;
  PrintMeasurement(name, threads, measured, limits ? 1e3 * job.LeastSeconds(*limits) : 0);
  if (limits) fmt::print(stderr, "{} {}: {}\n", name, job.name, job.detail);
  return OkStatus();
}

}  // namespace

Status RunKernels(const KernelFlags& flags, const Runtime::State& runtime, const Repeats& repeats,
                  const Limits* limits) {
  ThreadPool& pool = *runtime.pool;
  for (const std::string& text : flags.products) {
    TBOOST_ASSIGN_OR_RETURN(ProductShape shape, ParseProduct(text));
    shape.gelu = flags.gelu;
    shape.cycle_bytes = flags.cycle_mb * 1000000;
    TBOOST_ASSIGN_OR_RETURN(const KernelJob job,
                            MakeProductJob(pool, *runtime.kernels, runtime.l2_bytes, shape));
    TBOOST_RETURN_IF_ERROR(MeasureJob("product", job, pool.size(), repeats, limits));
  }
  for (const std::string& text : flags.attentions) {
    TBOOST_ASSIGN_OR_RETURN(AttentionShape shape, ParseAttention(text));
    shape.causal = flags.causal;
    TBOOST_ASSIGN_OR_RETURN(const KernelJob job, MakeAttentionJob(pool, *runtime.kernels, shape));
    TBOOST_RETURN_IF_ERROR(MeasureJob("attention", job, pool.size(), repeats, limits));
  }
  return OkStatus();
}

}  // namespace tboost
