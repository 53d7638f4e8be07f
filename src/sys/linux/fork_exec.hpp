// Starting a program by fork and exec: for what posix_spawn can't do.
#pragma once

#include <string>
#include <sys/types.h>
#include <vector>

#include "sys/process.hpp"

namespace rouse::sys {

/// The first descriptor that is no standard stream.
inline constexpr int first_free_number = 3;

/// What execve takes. Refers to the strings.
inline std::vector<char*> pointers(const std::vector<std::string>& strings) {
  std::vector<char*> all;
  all.reserve(strings.size() + 1);
  for (const std::string& string : strings) all.push_back(const_cast<char*>(string.c_str()));
  all.push_back(nullptr);
  return all;
}

/// Whether posix_spawn can't do it.
[[nodiscard]] bool needs_fork(const SpawnRequest& request) noexcept;

/// 0, or an errno; `failed_step` then says what failed in the child.
int fork_and_exec(const SpawnRequest& request, pid_t& pid, const char*& failed_step);

}  // namespace rouse::sys
