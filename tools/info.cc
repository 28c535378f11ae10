// tboost info: what this machine offers and what of it is used.
#include "src/base/cpu_features.h"
#include "src/parallel/topology.h"
#include "tboost/runtime.h"
#include "tools/command.h"
#include "tools/common.h"

namespace tboost {
namespace {

struct Flags {
  int threads = 0;
  bool json = false;
};

struct Feature {
  const char* name;
  bool CpuFeatures::*present;
};
constexpr Feature kFeatures[] = {{"avx2", &CpuFeatures::avx2},
                                 {"fma", &CpuFeatures::fma},
                                 {"f16c", &CpuFeatures::f16c},
                                 {"avx_vnni", &CpuFeatures::avx_vnni},
                                 {"avx512", &CpuFeatures::avx512},
                                 {"avx512_vnni", &CpuFeatures::avx512_vnni},
                                 {"avx512_bf16", &CpuFeatures::avx512_bf16},
                                 {"avx512_fp16", &CpuFeatures::avx512_fp16},
                                 {"amx_tile", &CpuFeatures::amx_tile},
                                 {"amx_int8", &CpuFeatures::amx_int8},
                                 {"amx_bf16", &CpuFeatures::amx_bf16}};

std::vector<std::string> FeatureNames() {
  const CpuFeatures features = ReadCpuFeatures();
  std::vector<std::string> names;
  for (const Feature& feature : kFeatures)
    if (features.*feature.present) names.push_back(feature.name);
  return names;
}

OrderedJson ToJson(const CpuTopology& cpu, const Runtime& runtime) {
  OrderedJson json = {{"version", TBOOST_VERSION},
                      {"cpu", cpu.model_name},
                      {"features", FeatureNames()},
                      {"isa", runtime.isa()},
                      {"isa_detected", IsaName(DetectIsa())},
                      {"cpus_allowed", cpu.cpus.size()},
                      {"physical_cores", cpu.physical_cores},
                      {"quota_cpus", nullptr},
                      {"threads", runtime.threads()},
                      {"thread_reason", runtime.thread_reason()},
                      {"l1d_bytes", cpu.l1d_bytes},
                      {"l2_bytes", cpu.l2_bytes},
                      {"l3_bytes", cpu.l3_bytes},
                      {"memory_total_bytes", cpu.memory_total},
                      {"memory_available_bytes", cpu.memory_available},
                      {"peak_rss_mb", PeakMemoryMb()}};
  if (cpu.quota_cpus) json["quota_cpus"] = *cpu.quota_cpus;
  return json;
}

void PrintText(const CpuTopology& cpu, const Runtime& runtime) {
  const Isa detected = DetectIsa();
  const bool capped = runtime.isa() != IsaName(detected);
  Print(fmt::format("version   {}\n", TBOOST_VERSION));
  Print(fmt::format("cpu       {}\n", cpu.model_name.empty() ? "unknown" : cpu.model_name));
  Print(fmt::format("features  {}\n", fmt::join(FeatureNames(), " ")));
  Print(fmt::format(
      "kernels   {}{}\n", runtime.isa(),
      capped ? fmt::format(" (TBOOST_MAX_ISA; the processor has {})", IsaName(detected)) : ""));
  Print(fmt::format("threads   {}\n", runtime.thread_reason()));
  Print(fmt::format("caches    L1 data {} KiB, L2 {} KiB, L3 {} KiB\n", cpu.l1d_bytes >> 10,
                    cpu.l2_bytes >> 10, cpu.l3_bytes >> 10));
  Print(fmt::format("memory    {} available of {}\n", FormatBytes(cpu.memory_available),
                    FormatBytes(cpu.memory_total)));
}

Status Run(const Flags& flags) {
  TBOOST_ASSIGN_OR_RETURN(const std::unique_ptr<Runtime> runtime,
                          Runtime::Create({.threads = flags.threads}));
  const CpuTopology cpu = ReadTopology();
  if (flags.json) {
    PrintPrettyJson(ToJson(cpu, *runtime));
  } else {
    PrintText(cpu, *runtime);
  }
  return OkStatus();
}

Action Setup(CLI::App& app) {
  auto flags = std::make_shared<Flags>();
  AddThreadsFlag(app, flags->threads);
  app.add_flag("--json", flags->json, "Print JSON");
  return [flags] { return Run(*flags); };
}

}  // namespace

const Command kInfoCommand = {"info", "Show the machine and what of it is used",
                              "  tboost info\n"
                              "  TBOOST_MAX_ISA=avx2 tboost info --json\n",
                              Setup};

}  // namespace tboost
