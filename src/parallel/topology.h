// What this process may use of the machine: processors, caches, memory, and how many threads suit
// it.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace tboost {

using CpuSet = std::set<int>;  // numbers of logical CPUs

struct CpuTopology {
  CpuSet cpus;                       // logical CPUs allowed: online, in the affinity and the cpuset
  int physical_cores = 1;            // distinct cores among them
  std::optional<double> quota_cpus;  // the tightest cgroup quota, in CPUs
  int threads_recommended = 1;       // min(physical_cores, quota rounded up), at least 1
  std::string reason;      // why that many: "2: 2 physical cores allowed; no cgroup quota"
  std::string model_name;  // empty where unknown
  // Bytes; 0 where unknown. Caches are those that the first allowed CPU sees.
  uint64_t l1d_bytes = 0;
  uint64_t l2_bytes = 0;
  uint64_t l3_bytes = 0;
  uint64_t memory_total = 0;      // of the machine or of the cgroup limit, the smaller
  uint64_t memory_available = 0;  // without swapping, within the same limit
};

// The calling thread's affinity; {0} where the system does not tell.
CpuSet AffinityCpus();

// Reads /sys and /proc below `root`. Whatever is missing or malformed counts as absent: never
// fails. `affinity` stands in for AffinityCpus().
CpuTopology ReadTopology(const std::string& root = "/",
                         const std::optional<CpuSet>& affinity = std::nullopt);

// The kernel's list format, "0-3,8": nullopt where malformed or beyond 65536 CPUs.
std::optional<CpuSet> ParseCpuList(std::string_view text);

}  // namespace tboost
