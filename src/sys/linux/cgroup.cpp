#include "sys/linux/cgroup.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <fstream>
#include <iterator>

namespace rouse::sys {
namespace {

std::optional<std::string> read_file(const std::string& path) {
  std::ifstream file(path);
  if (!file) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(file), {});
}

/// Takes what comes before `separator` off the front of `text`; all of it if there is none.
std::string_view take_until(std::string_view& text, char separator) {
  const std::size_t end = text.find(separator);
  const std::string_view taken = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return taken;
}

bool list_contains(std::string_view list, std::string_view item) {
  while (!list.empty()) {
    if (take_until(list, ',') == item) return true;
  }
  return false;
}

bool is_octal(char c) { return c >= '0' && c <= '7'; }

/// mountinfo writes a space as \040, and so on.
std::string unescape(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size() && is_octal(text[i + 1]) && is_octal(text[i + 2]) &&
        is_octal(text[i + 3])) {
      plain += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 +
                                 (text[i + 3] - '0'));
      i += 3;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

/// This process's group, as /proc/self/cgroup names it.
std::optional<std::string> group_of(std::string_view cgroup, CpuGroup::Version version) {
  while (!cgroup.empty()) {
    std::string_view line = take_until(cgroup, '\n');
    const std::string_view hierarchy = take_until(line, ':');
    const std::string_view controllers = take_until(line, ':');
    const bool found = version == CpuGroup::Version::v2 ? hierarchy == "0" && controllers.empty()
                                                        : list_contains(controllers, "cpu");
    if (found) return std::string(line);
  }
  return std::nullopt;
}

/// A line of mountinfo: "36 35 98:0 /root /mount/point options [optional...] - type source options"
struct Mount {
  explicit Mount(std::string_view line) {
    for (int i = 0; i < 3; ++i) take_until(line, ' ');
    root = unescape(take_until(line, ' '));
    point = unescape(take_until(line, ' '));
    const std::size_t dash = line.find(" - ");
    if (dash == std::string_view::npos) return;
    line.remove_prefix(dash + 3);
    type = take_until(line, ' ');
    take_until(line, ' ');
    options = line;
  }
  std::string root;
  std::string point;
  std::string_view type;
  std::string_view options;
};

/// From the mount's root to `group`; "" where the group is not below it, as seen from a container.
std::string path_below(const std::string& root, std::string group) {
  if (root != "/") {
    const bool below =
        group.starts_with(root) && (group.size() == root.size() || group[root.size()] == '/');
    if (!below) return "";
    group.erase(0, root.size());
  }
  if (group.find("/..") != std::string::npos) return "";
  while (group.ends_with('/')) group.pop_back();
  return group;
}

std::optional<std::size_t> limit_in(const std::string& folder, CpuGroup::Version version) {
  if (version == CpuGroup::Version::v2) {
    const auto max = read_file(folder + "/cpu.max");
    if (!max) return std::nullopt;
    std::string_view period = *max;
    const std::string_view quota = take_until(period, ' ');
    return cpus_of_quota(quota, period);
  }
  const auto quota = read_file(folder + "/cpu.cfs_quota_us");
  const auto period = read_file(folder + "/cpu.cfs_period_us");
  if (!quota || !period) return std::nullopt;
  return cpus_of_quota(*quota, *period);
}

void lower(std::optional<std::size_t>& limit, std::optional<std::size_t> other) {
  if (other) limit = std::min(limit.value_or(*other), *other);
}

std::optional<std::uint64_t> parse_number(std::string_view text) {
  if (text.ends_with('\n')) text.remove_suffix(1);
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

std::vector<CpuGroup> find_cpu_groups(std::string_view cgroup, std::string_view mountinfo) {
  std::vector<CpuGroup> groups;
  while (!mountinfo.empty()) {
    const Mount mount(take_until(mountinfo, '\n'));
    const bool is_v2 = mount.type == "cgroup2";
    if (!is_v2 && !(mount.type == "cgroup" && list_contains(mount.options, "cpu"))) continue;
    const auto version = is_v2 ? CpuGroup::Version::v2 : CpuGroup::Version::v1;
    if (auto group = group_of(cgroup, version)) {
      groups.emplace_back(version, mount.point, path_below(mount.root, *std::move(group)));
    }
  }
  return groups;
}

std::optional<std::size_t> cpus_of_quota(std::string_view quota, std::string_view period) {
  const auto microseconds = parse_number(quota);
  const auto every = parse_number(period);
  if (!microseconds || !every || *microseconds == 0 || *every == 0) return std::nullopt;
  return static_cast<std::size_t>((*microseconds - 1) / *every + 1);
}

std::optional<std::size_t> cgroup_cpu_limit(const std::string& root) {
  const auto cgroup = read_file(root + "/proc/self/cgroup");
  const auto mountinfo = read_file(root + "/proc/self/mountinfo");
  if (!cgroup || !mountinfo) return std::nullopt;
  std::optional<std::size_t> limit;
  for (CpuGroup& group : find_cpu_groups(*cgroup, *mountinfo)) {
    for (;;) {
      lower(limit, limit_in(root + group.mount + group.path, group.version));
      if (group.path.empty()) break;
      group.path.erase(group.path.rfind('/'));
    }
  }
  return limit;
}

}  // namespace rouse::sys
