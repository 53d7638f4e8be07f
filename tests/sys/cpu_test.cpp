// How many CPUs a process may use: the limits of control groups, fed from files of our own.
#include "sys/cpu.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sched.h>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "sys/linux/cgroup.hpp"

namespace rouse::sys {
namespace {

namespace fs = std::filesystem;

constexpr const char* v2_mount =
    "29 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";
constexpr const char* v1_mount =
    "30 23 0:27 / /sys/fs/cgroup/cpu rw shared:9 - cgroup cgroup rw,cpu,cpuacct\n";

/// A folder that stands for "/".
class FakeRoot {
 public:
  FakeRoot() {
    std::string name = (fs::temp_directory_path() / "rouse_cpu_XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  FakeRoot(const FakeRoot&) = delete;
  FakeRoot& operator=(const FakeRoot&) = delete;
  ~FakeRoot() { fs::remove_all(path_); }

  FakeRoot& write(const std::string& file, const std::string& text) {
    const std::string path = path_ + file;
    fs::create_directories(fs::path(path).parent_path());
    std::ofstream(path) << text;
    return *this;
  }
  std::optional<std::size_t> limit() const { return cgroup_cpu_limit(path_); }

 private:
  std::string path_;
};

TEST(CpuQuota, IsRoundedUp) {
  EXPECT_EQ(cpus_of_quota("150000", "100000\n"), 2U);
  EXPECT_EQ(cpus_of_quota("200000", "100000"), 2U);
  EXPECT_EQ(cpus_of_quota("200001", "100000"), 3U);
  EXPECT_EQ(cpus_of_quota("1", "100000"), 1U);
  EXPECT_EQ(cpus_of_quota("18446744073709551615", "1"), 18446744073709551615U);
}

TEST(CpuQuota, ThatIsNoNumberIsNoLimit) {
  for (const char* quota : {"max", "-1", "", "0", "12x", "99999999999999999999999"}) {
    EXPECT_EQ(cpus_of_quota(quota, "100000"), std::nullopt) << quota;
  }
  EXPECT_EQ(cpus_of_quota("100000", "0"), std::nullopt);
  EXPECT_EQ(cpus_of_quota("100000", ""), std::nullopt);
}

TEST(CpuLimit, IsThatOfTheOwnGroup) {
  FakeRoot root;
  root.write("/proc/self/cgroup", "0::/app\n").write("/proc/self/mountinfo", v2_mount);
  root.write("/sys/fs/cgroup/app/cpu.max", "150000 100000\n");
  EXPECT_EQ(root.limit(), 2U);
}

TEST(CpuLimit, IsTheSmallestOfTheGroupsAround) {
  FakeRoot root;
  root.write("/proc/self/cgroup", "0::/a/b/c\n").write("/proc/self/mountinfo", v2_mount);
  root.write("/sys/fs/cgroup/a/b/c/cpu.max", "max 100000\n");
  root.write("/sys/fs/cgroup/a/b/cpu.max", "800000 100000\n");
  root.write("/sys/fs/cgroup/a/cpu.max", "300000 100000\n");
  EXPECT_EQ(root.limit(), 3U);
  root.write("/sys/fs/cgroup/cpu.max", "100000 100000\n");
  EXPECT_EQ(root.limit(), 1U);
}

TEST(CpuLimit, OfAContainerIsAtTheMountPoint) {
  FakeRoot root;
  root.write("/proc/self/cgroup", "0::/../../outside\n").write("/proc/self/mountinfo", v2_mount);
  root.write("/sys/fs/cgroup/cpu.max", "250000 100000\n");
  EXPECT_EQ(root.limit(), 3U);
}

TEST(CpuLimit, OfVersionOneIsInTwoFiles) {
  FakeRoot root;
  root.write("/proc/self/cgroup", "5:memory:/m\n4:cpu,cpuacct:/app\n0::/\n");
  root.write("/proc/self/mountinfo", v1_mount);
  root.write("/sys/fs/cgroup/cpu/app/cpu.cfs_quota_us", "350000\n");
  root.write("/sys/fs/cgroup/cpu/app/cpu.cfs_period_us", "100000\n");
  root.write("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
  root.write("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(root.limit(), 4U);
}

TEST(CpuLimit, SeesThroughAMountOfAnInnerGroup) {
  const auto groups =
      find_cpu_groups("4:cpu:/docker/one/inner\n",
                      "30 23 0:27 /docker/one /sys/my\\040cpu rw - cgroup cgroup rw,cpu\n");
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_EQ(groups[0].mount, "/sys/my cpu");
  EXPECT_EQ(groups[0].path, "/inner");
  EXPECT_EQ(find_cpu_groups("4:cpu:/docker/onetwo\n",
                            "30 23 0:27 /docker/one /cpu rw - cgroup cgroup rw,cpu\n")[0]
                .path,
            "");
}

TEST(CpuLimit, IsNoneWithoutFilesAndWithBadOnes) {
  FakeRoot root;
  EXPECT_EQ(root.limit(), std::nullopt);
  root.write("/proc/self/cgroup", "garbage\n::\n0").write("/proc/self/mountinfo", "x\n\n - \n1 2");
  EXPECT_EQ(root.limit(), std::nullopt);
  root.write("/proc/self/cgroup", "0::/app\n").write("/proc/self/mountinfo", v2_mount);
  EXPECT_EQ(root.limit(), std::nullopt);
  root.write("/sys/fs/cgroup/app/cpu.max", "what is this");
  EXPECT_EQ(root.limit(), std::nullopt);
}

TEST(Cpus, AreNoMoreThanTheAffinityAllows) {
  EXPECT_GE(available_cpus(), 1U);
  EXPECT_LE(available_cpus(), std::max(1U, std::thread::hardware_concurrency()));
  std::size_t pinned = 0;
  std::thread([&] {
    cpu_set_t all;
    ASSERT_EQ(::sched_getaffinity(0, sizeof all, &all), 0);
    int first = 0;
    while (!CPU_ISSET(first, &all)) ++first;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
    pinned = available_cpus();
  }).join();
  EXPECT_EQ(pinned, 1U);
}

}  // namespace
}  // namespace rouse::sys
