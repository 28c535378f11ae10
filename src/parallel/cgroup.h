// Limits that control groups (v1, v2 and hybrid mounts) put on this process.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "src/parallel/topology.h"

namespace tboost {

// Each is the tightest along the path from the process's own group to the root of the mount; absent
// where none is set.
struct CgroupLimits {
  std::optional<double> quota_cpus;
  std::optional<CpuSet> cpuset;
  std::optional<uint64_t> memory_limit;
  std::optional<uint64_t> memory_free;  // limit less what is used and cannot be reclaimed
};

// Reads /proc/self/cgroup and /sys/fs/cgroup below `root`; never fails.
CgroupLimits ReadCgroupLimits(const std::string& root);

}  // namespace tboost
