// How many CPUs the control groups of this process allow: `cpu.max` of version 2 and
// `cpu.cfs_quota_us` of version 1, in the group itself and in every group around it.
// What is missing or can't be understood is no limit.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rouse::sys {

/// One folder tree of control groups that says something about this process's CPU time.
class CpuGroup {
 public:
  enum class Version : unsigned char { v1, v2 };
  CpuGroup(Version kind, std::string mounted_at, std::string group)
      : version(kind), mount(std::move(mounted_at)), path(std::move(group)) {}

  Version version;
  std::string mount;  ///< where the outermost visible group is
  std::string path;   ///< from there to this process's own: "" or "/a/b"
};

/// From the text of /proc/self/cgroup and /proc/self/mountinfo.
std::vector<CpuGroup> find_cpu_groups(std::string_view cgroup, std::string_view mountinfo);

/// quota / period, rounded up. Nothing if there is no quota.
std::optional<std::size_t> cpus_of_quota(std::string_view quota, std::string_view period);

/// The smallest limit of all groups. All files are read below `root`, which is "" for the real
/// ones.
std::optional<std::size_t> cgroup_cpu_limit(const std::string& root);

}  // namespace rouse::sys
