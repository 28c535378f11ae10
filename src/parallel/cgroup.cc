#include "src/parallel/cgroup.h"

#include <algorithm>
#include <array>
#include <vector>

#include "src/base/system_text.h"

namespace tboost {
namespace {

// The files of one controller in one version of the interface.
struct MemoryFiles {
  std::string_view limit, usage, reclaimable_key;
};
constexpr MemoryFiles kMemoryV1 = {"memory.limit_in_bytes", "memory.usage_in_bytes",
                                   "total_inactive_file"};
constexpr MemoryFiles kMemoryV2 = {"memory.max", "memory.current", "inactive_file"};
// v1 writes "none" as a number of this order.
constexpr int64_t kUnlimitedMemory = int64_t{1} << 60;

template <class T>
void Tighten(std::optional<T>& limit, const T& other) {
  limit = limit ? std::min(*limit, other) : other;
}

void TightenQuota(CgroupLimits& limits, std::string_view quota, std::string_view period) {
  const std::optional<int64_t> time = ParseDecimal(quota), of = ParseDecimal(period);
  // "max" and -1 mean none.
  if (time && of && *time > 0 && *of > 0)
    Tighten(limits.quota_cpus, static_cast<double>(*time) / static_cast<double>(*of));
}

void TightenCpuset(CgroupLimits& limits, std::string_view list) {
  const std::optional<CpuSet> cpus = ParseCpuList(list);
  if (!cpus || cpus->empty()) return;
  if (limits.cpuset)
    std::erase_if(*limits.cpuset, [&](int cpu) { return !cpus->contains(cpu); });
  else
    limits.cpuset = cpus;
}

void TightenMemory(CgroupLimits& limits, const std::string& folder, const MemoryFiles& files) {
  const auto read = [&](std::string_view name) {
    return ReadSystemText(folder + "/" + std::string(name));
  };
  const std::optional<int64_t> limit = ParseDecimal(read(files.limit));
  if (!limit || *limit < 0 || *limit >= kUnlimitedMemory) return;
  Tighten(limits.memory_limit, static_cast<uint64_t>(*limit));
  const std::string stat = read("memory.stat");
  const int64_t usage = ParseDecimal(read(files.usage)).value_or(0);
  const int64_t cache = ParseDecimal(LineValue(stat, files.reclaimable_key, ' ')).value_or(0);
  const int64_t used = std::clamp<int64_t>(usage - std::min(cache, usage), 0, *limit);
  Tighten(limits.memory_free, static_cast<uint64_t>(*limit - used));
}

void ReadV2(CgroupLimits& limits, const std::string& folder) {
  const std::string max = ReadSystemText(folder + "/cpu.max");
  std::string_view period = max;
  const std::string_view quota = TakeUntil(period, ' ');
  TightenQuota(limits, quota, period);
  TightenCpuset(limits, ReadSystemText(folder + "/cpuset.cpus.effective"));
  TightenMemory(limits, folder, kMemoryV2);
}

void ReadV1(CgroupLimits& limits, std::string_view controller, const std::string& folder) {
  if (controller == "cpu")
    TightenQuota(limits, ReadSystemText(folder + "/cpu.cfs_quota_us"),
                 ReadSystemText(folder + "/cpu.cfs_period_us"));
  if (controller == "cpuset") TightenCpuset(limits, ReadSystemText(folder + "/cpuset.cpus"));
  if (controller == "memory") TightenMemory(limits, folder, kMemoryV1);
}

// The folders from the group at `path` up to `mount` itself. In a container `path` may name the
// group as the host sees it; its folders do not exist then and the mount is the group itself.
std::vector<std::string> FoldersUpward(const std::string& mount, std::string_view path) {
  std::vector<std::string> folders = {mount};
  while (!path.empty()) {
    const std::string_view part = TakeUntil(path, '/');
    if (part == "..") break;
    if (!part.empty()) folders.push_back(folders.back() + "/" + std::string(part));
  }
  return folders;
}

}  // namespace

CgroupLimits ReadCgroupLimits(const std::string& root) {
  CgroupLimits limits;
  const std::string mounts = root + "/sys/fs/cgroup";
  const std::string groups = ReadSystemText(root + "/proc/self/cgroup");
  // Lines are "4:cpu,cpuacct:/path" in v1 and "0::/path" in v2.
  for (std::string_view rest = groups; !rest.empty();) {
    std::string_view path = TakeUntil(rest, '\n');
    TakeUntil(path, ':');
    const std::string controllers(TakeUntil(path, ':'));
    if (controllers.empty()) {
      for (const char* mount : {"", "/unified"})
        for (const std::string& folder : FoldersUpward(mounts + mount, path))
          ReadV2(limits, folder);
    }
    for (std::string_view names = controllers; !names.empty();) {
      const std::string controller(TakeUntil(names, ','));
      for (const std::string& folder : FoldersUpward(mounts + "/" + controller, path))
        ReadV1(limits, controller, folder);
    }
  }
  return limits;
}

}  // namespace tboost
