// What a process has at the moment: descriptors, threads, resident memory; from /proc.
#pragma once

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <sys/types.h>

namespace rouse::test {

inline std::size_t entries_in_proc(pid_t process, const char* folder) {
  const std::filesystem::directory_iterator entries("/proc/" + std::to_string(process) + folder);
  return static_cast<std::size_t>(std::distance(begin(entries), end(entries)));
}
inline std::size_t open_descriptors(pid_t process) { return entries_in_proc(process, "/fd"); }
inline std::size_t threads_of(pid_t process) { return entries_in_proc(process, "/task"); }

/// In KiB.
inline std::size_t resident_memory(pid_t process) {
  std::ifstream status("/proc/" + std::to_string(process) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:")) return std::stoul(line.substr(6));
  }
  return 0;
}

}  // namespace rouse::test
