#include "src/parallel/topology.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace tboost {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr uint64_t kMiB = uint64_t{1} << 20;

// A /sys and /proc tree in a temporary folder.
class TopologyTest : public testing::Test {
 protected:
  TopologyTest() {
    std::string name = testing::TempDir() + "/topologyXXXXXX";
    root_ = mkdtemp(name.data());
  }
  ~TopologyTest() override { std::filesystem::remove_all(root_); }

  void Put(const std::string& path, const std::string& text) {
    const std::filesystem::path file = root_ + "/" + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text << "\n";
  }

  // `cpus` online; with `threads_per_core` 2, CPU i and i + cpus / 2 share a core.
  void PutCpus(int cpus, int threads_per_core) {
    Put("sys/devices/system/cpu/online", "0-" + std::to_string(cpus - 1));
    const int cores = cpus / threads_per_core;
    for (int cpu = 0; cpu < cpus; ++cpu) {
      std::string siblings = std::to_string(cpu % cores);
      if (threads_per_core == 2) siblings += "," + std::to_string(cpu % cores + cores);
      Put("sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/thread_siblings_list",
          siblings);
    }
  }

  CpuTopology Read(const CpuSet& affinity = {0, 1, 2, 3, 4, 5, 6, 7}) {
    return ReadTopology(root_, affinity);
  }

  std::string root_;
};

TEST_F(TopologyTest, EmptyTreeLeavesTheAffinity) {
  const CpuTopology topology = Read({2, 5});
  EXPECT_THAT(topology.cpus, ElementsAre(2, 5));
  EXPECT_EQ(topology.threads_recommended, 2);
  EXPECT_EQ(topology.reason, "2: 2 physical cores allowed by affinity; no cgroup quota");
  EXPECT_EQ(topology.l1d_bytes, 0u);
  EXPECT_EQ(topology.memory_total, 0u);
  EXPECT_EQ(topology.model_name, "");
}

TEST_F(TopologyTest, SmtSiblingsCountOnce) {
  PutCpus(8, 2);
  EXPECT_EQ(Read().physical_cores, 4);
  EXPECT_EQ(Read({0, 4}).physical_cores, 1);
  EXPECT_EQ(Read({0, 4}).reason, "1: 1 physical core allowed by affinity; no cgroup quota");
  EXPECT_EQ(Read({0, 5}).physical_cores, 2);
}

TEST_F(TopologyTest, AffinityBeyondOnlineIsDropped) {
  PutCpus(4, 1);
  EXPECT_THAT(Read().cpus, ElementsAre(0, 1, 2, 3));
}

TEST_F(TopologyTest, V2QuotaIsRoundedUp) {
  PutCpus(8, 1);
  Put("proc/self/cgroup", "0::/app");
  Put("sys/fs/cgroup/app/cpu.max", "250000 100000");
  const CpuTopology topology = Read();
  EXPECT_DOUBLE_EQ(topology.quota_cpus.value(), 2.5);
  EXPECT_EQ(topology.threads_recommended, 3);
  EXPECT_EQ(topology.reason, "3: 8 physical cores allowed by affinity; cgroup quota of 2.5 CPUs");
}

TEST_F(TopologyTest, V2MaxIsNoQuota) {
  PutCpus(8, 1);
  Put("proc/self/cgroup", "0::/");
  Put("sys/fs/cgroup/cpu.max", "max 100000");
  EXPECT_FALSE(Read().quota_cpus.has_value());
  EXPECT_EQ(Read().threads_recommended, 8);
}

TEST_F(TopologyTest, V2NestedGroupsTakeTheTightest) {
  PutCpus(8, 1);
  Put("proc/self/cgroup", "0::/outer/inner");
  Put("sys/fs/cgroup/outer/cpu.max", "200000 100000");
  Put("sys/fs/cgroup/outer/inner/cpu.max", "max 100000");
  Put("sys/fs/cgroup/outer/cpuset.cpus.effective", "0-5");
  Put("sys/fs/cgroup/outer/inner/cpuset.cpus.effective", "4-7");
  EXPECT_DOUBLE_EQ(Read().quota_cpus.value(), 2);
  EXPECT_THAT(Read().cpus, ElementsAre(4, 5));
  EXPECT_THAT(Read().reason, HasSubstr("affinity and cpuset"));
}

TEST_F(TopologyTest, V1QuotaAndCpuset) {
  PutCpus(8, 1);
  Put("proc/self/cgroup", "4:cpu,cpuacct:/job\n3:cpuset:/job\n2:memory:/job");
  Put("sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "150000");
  Put("sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "50000");
  Put("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1");
  Put("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000");
  Put("sys/fs/cgroup/cpuset/job/cpuset.cpus", "1-3,7");
  EXPECT_DOUBLE_EQ(Read().quota_cpus.value(), 3);
  EXPECT_THAT(Read().cpus, ElementsAre(1, 2, 3, 7));
  EXPECT_EQ(Read().threads_recommended, 3);
}

TEST_F(TopologyTest, ContainerSeesItsGroupAsTheMount) {
  Put("proc/self/cgroup", "4:cpu:/docker/0123abc");
  Put("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "100000");
  Put("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000");
  EXPECT_EQ(Read().threads_recommended, 1);
}

TEST_F(TopologyTest, MemoryIsBoundedByTheGroup) {
  Put("proc/meminfo", "MemTotal:       8388608 kB\nMemFree: 1 kB\nMemAvailable:   4194304 kB");
  EXPECT_EQ(Read().memory_total, 8192 * kMiB);
  EXPECT_EQ(Read().memory_available, 4096 * kMiB);
  Put("proc/self/cgroup", "0::/app");
  Put("sys/fs/cgroup/app/memory.max", std::to_string(1024 * kMiB));
  Put("sys/fs/cgroup/app/memory.current", std::to_string(600 * kMiB));
  Put("sys/fs/cgroup/app/memory.stat",
      "anon 1\ninactive_file " + std::to_string(100 * kMiB) + "\nactive_file 5");
  EXPECT_EQ(Read().memory_total, 1024 * kMiB);
  EXPECT_EQ(Read().memory_available, 524 * kMiB);
}

TEST_F(TopologyTest, CachesAndModelName) {
  const std::string cache = "sys/devices/system/cpu/cpu0/cache/";
  const char* levels[][3] = {{"1", "Data", "48K"},
                             {"1", "Instruction", "32K"},
                             {"2", "Unified", "2M"},
                             {"3", "Unified", "266240K"}};
  for (int i = 0; i < 4; ++i) {
    const std::string index = cache + "index" + std::to_string(i);
    Put(index + "/level", levels[i][0]);
    Put(index + "/type", levels[i][1]);
    Put(index + "/size", levels[i][2]);
  }
  Put("proc/cpuinfo", "processor\t: 0\nmodel\t\t: 85\nmodel name\t: Some CPU @ 2 GHz\n");
  const CpuTopology topology = Read();
  EXPECT_EQ(topology.l1d_bytes, 48u * 1024);
  EXPECT_EQ(topology.l2_bytes, 2 * kMiB);
  EXPECT_EQ(topology.l3_bytes, 260 * kMiB);
  EXPECT_EQ(topology.model_name, "Some CPU @ 2 GHz");
}

TEST_F(TopologyTest, GarbageCountsAsAbsent) {
  Put("sys/devices/system/cpu/online", "zero to nine");
  Put("sys/devices/system/cpu/cpu0/topology/thread_siblings_list", "9-1");
  Put("sys/devices/system/cpu/cpu0/cache/index0/level", "1");
  Put("sys/devices/system/cpu/cpu0/cache/index0/size", "99999999999999999999K");
  Put("proc/self/cgroup", "::::\n:\n0::/../../x\n1:cpu:/a\nno colons");
  Put("sys/fs/cgroup/cpu.max", "0 0");
  Put("sys/fs/cgroup/cpuset.cpus.effective", "77");  // none of the affinity
  Put("sys/fs/cgroup/memory.max", "-5");
  Put("sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "1e9");
  Put("proc/meminfo", "MemTotal: many kB\nMemAvailable");
  const CpuTopology topology = Read({0, 1});
  EXPECT_THAT(topology.cpus, ElementsAre(0, 1));
  EXPECT_EQ(topology.threads_recommended, 2);
  EXPECT_FALSE(topology.quota_cpus.has_value());
  EXPECT_EQ(topology.l1d_bytes, 0u);
  EXPECT_EQ(topology.memory_total, 0u);
}

TEST(RealTopologyTest, ThisMachine) {
  const CpuTopology topology = ReadTopology();
  EXPECT_GE(topology.threads_recommended, 1);
  EXPECT_LE(topology.threads_recommended, static_cast<int>(AffinityCpus().size()));
  EXPECT_GT(topology.memory_total, 0u);
  EXPECT_LE(topology.memory_available, topology.memory_total);
}

TEST(CpuListTest, Formats) {
  EXPECT_THAT(ParseCpuList("0-2,5\n").value(), ElementsAre(0, 1, 2, 5));
  EXPECT_THAT(ParseCpuList("7").value(), ElementsAre(7));
  EXPECT_TRUE(ParseCpuList("").value().empty());
  for (const char* bad : {"a", "1-", "-1", "3-1", "1,,2", "0-99999999", "1 2"})
    EXPECT_FALSE(ParseCpuList(bad).has_value()) << bad;
}

}  // namespace
}  // namespace tboost
