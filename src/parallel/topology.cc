#include "src/parallel/topology.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "src/base/system_text.h"
#include "src/parallel/cgroup.h"

namespace tboost {
namespace {

constexpr int kMaxCpus = 65536;

void Keep(CpuSet& cpus, const std::optional<CpuSet>& allowed) {
  if (!allowed) return;
  CpuSet kept = cpus;
  std::erase_if(kept, [&](int cpu) { return !allowed->contains(cpu); });
  // Files that contradict each other must not leave a process that runs without any processor.
  if (!kept.empty()) cpus = std::move(kept);
}

std::string CpuFolder(const std::string& root, int cpu) {
  return fmt::format("{}/sys/devices/system/cpu/cpu{}", root, cpu);
}

int CountCores(const std::string& root, const CpuSet& cpus) {
  CpuSet cores;  // each by the lowest CPU of its siblings
  for (int cpu : cpus) {
    const std::string list =
        ReadSystemText(CpuFolder(root, cpu) + "/topology/thread_siblings_list");
    const std::optional<CpuSet> siblings = ParseCpuList(list);
    cores.insert(siblings && siblings->contains(cpu) ? *siblings->begin() : cpu);
  }
  return static_cast<int>(cores.size());
}

// "32K", "260M"; 0 where malformed.
uint64_t ParseCacheSize(std::string_view text) {
  uint64_t unit = 1;
  if (text.ends_with('K')) unit = 1024;
  if (text.ends_with('M')) unit = 1024 * 1024;
  if (unit > 1) text.remove_suffix(1);
  const std::optional<int64_t> value = ParseDecimal(text);
  return value && *value > 0 && *value < (int64_t{1} << 40) ? *value * unit : 0;
}

void ReadCaches(const std::string& root, int cpu, CpuTopology& topology) {
  for (int index = 0; index < 8; ++index) {
    const std::string folder = fmt::format("{}/cache/index{}", CpuFolder(root, cpu), index);
    const std::string level = ReadSystemText(folder + "/level");
    if (ReadSystemText(folder + "/type") == "Instruction") continue;
    const uint64_t bytes = ParseCacheSize(ReadSystemText(folder + "/size"));
    if (level == "1") topology.l1d_bytes = bytes;
    if (level == "2") topology.l2_bytes = bytes;
    if (level == "3") topology.l3_bytes = bytes;
  }
}

uint64_t MemoryInfo(std::string_view text, std::string_view key) {
  std::string_view value = LineValue(text, key, ':');
  const std::optional<int64_t> kib = ParseDecimal(TakeUntil(value, ' '));
  return kib && *kib > 0 && *kib < (int64_t{1} << 50) ? static_cast<uint64_t>(*kib) * 1024 : 0;
}

void ReadMemory(const std::string& root, const CgroupLimits& limits, CpuTopology& topology) {
  const std::string text = ReadSystemText(root + "/proc/meminfo");
  const auto within = [](uint64_t bytes, const std::optional<uint64_t>& limit) {
    return limit && (bytes == 0 || *limit < bytes) ? *limit : bytes;
  };
  topology.memory_total = within(MemoryInfo(text, "MemTotal"), limits.memory_limit);
  topology.memory_available = within(MemoryInfo(text, "MemAvailable"), limits.memory_free);
}

void Recommend(CpuTopology& topology, bool has_cpuset) {
  const int cores = topology.physical_cores;
  const std::string allowed = fmt::format("{} physical core{} allowed by affinity{}", cores,
                                          cores == 1 ? "" : "s", has_cpuset ? " and cpuset" : "");
  topology.threads_recommended = cores;
  if (!topology.quota_cpus) {
    topology.reason = fmt::format("{}: {}; no cgroup quota", cores, allowed);
    return;
  }
  const double quota = std::ceil(*topology.quota_cpus);
  if (quota < cores) topology.threads_recommended = std::max(1, static_cast<int>(quota));
  topology.reason = fmt::format("{}: {}; cgroup quota of {:.4g} CPUs", topology.threads_recommended,
                                allowed, *topology.quota_cpus);
}

}  // namespace

CpuSet AffinityCpus() {
  std::vector<cpu_set_t> sets(kMaxCpus / CPU_SETSIZE);
  const size_t bytes = sets.size() * sizeof(cpu_set_t);
  if (sched_getaffinity(0, bytes, sets.data()) != 0) return {0};
  CpuSet cpus;
  for (int cpu = 0; cpu < kMaxCpus; ++cpu)
    if (CPU_ISSET_S(cpu, bytes, sets.data())) cpus.insert(cpu);
  return cpus.empty() ? CpuSet{0} : cpus;
}

std::optional<CpuSet> ParseCpuList(std::string_view text) {
  CpuSet cpus;
  for (std::string_view rest = Trimmed(text); !rest.empty();) {
    const std::string_view item = TakeUntil(rest, ',');
    const size_t dash = std::min(item.find('-'), item.size());
    const std::optional<int64_t> first = ParseDecimal(item.substr(0, dash));
    const std::optional<int64_t> last =
        dash == item.size() ? first : ParseDecimal(item.substr(dash + 1));
    if (!first || !last || *first < 0 || *last < *first || *last >= kMaxCpus) return std::nullopt;
    for (int64_t cpu = *first; cpu <= *last; ++cpu) cpus.insert(static_cast<int>(cpu));
  }
  return cpus;
}

CpuTopology ReadTopology(const std::string& root, const std::optional<CpuSet>& affinity) {
  CpuTopology topology;
  const CgroupLimits limits = ReadCgroupLimits(root);
  topology.cpus = affinity && !affinity->empty() ? *affinity : AffinityCpus();
  Keep(topology.cpus, ParseCpuList(ReadSystemText(root + "/sys/devices/system/cpu/online")));
  Keep(topology.cpus, limits.cpuset);
  topology.physical_cores = CountCores(root, topology.cpus);
  topology.quota_cpus = limits.quota_cpus;
  Recommend(topology, limits.cpuset.has_value());
  const std::string cpu_info = ReadSystemText(root + "/proc/cpuinfo");
  topology.model_name = LineValue(cpu_info, "model name", ':');
  ReadCaches(root, *topology.cpus.begin(), topology);
  ReadMemory(root, limits, topology);
  return topology;
}

}  // namespace tboost
