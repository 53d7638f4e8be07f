// The sys seam, child processes. See src/sys/README.md.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rouse/base/function.hpp"
#include "rouse/base/result.hpp"
#include "rouse/io/owned_fd.hpp"

namespace rouse::sys {

struct SpawnRequest {
  std::string program;                   ///< with a slash: a path; without: looked for in `path`
  std::vector<std::string> args;         ///< args[0] is the program's name
  std::vector<std::string> environment;  ///< NAME=value
  std::string path;                      ///< folders, with colons between them
  int current_dir = -1;                  ///< a descriptor of a folder; -1: as it is
  std::array<int, 3> stdio{-1, -1, -1};  ///< what becomes 0, 1 and 2; -1: as it is
  std::optional<int> process_group;      ///< 0: a new one
  bool new_session = false;
  std::optional<std::uint32_t> uid;  ///< drops the supplementary groups, unless `groups` says which
  std::optional<std::uint32_t> gid;
  std::optional<std::vector<std::uint32_t>> groups;
  std::vector<Function<int()>> pre_exec;  ///< in the child, before it executes: see Command
};

struct Spawned {
  io::OwnedFd pidfd;  ///< readable when the process has ended
  int pid;
};

struct ProcessEnd {
  bool is_exit;  ///< it said so itself; else a signal ended it
  int value;     ///< its exit code or the signal
  bool core_dumped;
};

/// Starts a program. It has no signal blocked, SIGPIPE ends it, and of the descriptors only those
/// that are not closed on exec. When this returns the program runs, or there is an error of the
/// system that says why not. Only the memory for the arguments may throw.
/// `failed_step` is set to what failed in the child before it could execute, if that is known.
Result<Spawned> spawn_process(const SpawnRequest& request, const char*& failed_step);
/// What this process was given and has set; not while another thread changes it.
std::vector<std::string> environment();
/// Where programs are if the environment does not say so.
inline constexpr const char* default_path = "/bin:/usr/bin";

/// Nothing: it still runs. Told once: then the process is gone for good.
Result<std::optional<ProcessEnd>> reap(int pidfd) noexcept;
/// Blocks until the child is gone, which is at once. Does nothing if it was reaped already, as by
/// the system where SIGCHLD is ignored: the number may be that of another process.
void kill_and_reap(int pid) noexcept;
Result<void> send_signal(int pidfd, int number) noexcept;

Result<io::OwnedFd> open_null() noexcept;
Result<io::OwnedFd> open_folder(const std::string& path) noexcept;

}  // namespace rouse::sys
