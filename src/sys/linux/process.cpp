// Uses posix_spawn: it shares memory with the child until exec, so its cost does not depend on the
// size of this process; it runs no fork handlers; and it reports why a program can't be executed.
// What it can't do is done here: searching the child's PATH for the program. Where another user or
// a function of the caller's is wanted, fork_exec.cpp does all of it.
#include "sys/process.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <spawn.h>
#include <string_view>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sys/linux/call.hpp"
#include "sys/linux/fork_exec.hpp"

namespace rouse::sys {
namespace {

constexpr auto by_pidfd = static_cast<idtype_t>(3);  // P_PIDFD, which older headers do not know

/// What is to happen in the child before it executes the program. `error` says whether all of it
/// could be written down.
class Preparation {
 public:
  explicit Preparation(const SpawnRequest& request) noexcept {
    note(posix_spawn_file_actions_init(&actions_));
    note(posix_spawnattr_init(&attributes_));
    if (error_ != 0) return;
    for (int number = 0; number < first_free_number; ++number) redirect(request, number);
    if (request.current_dir >= 0) {
      note(posix_spawn_file_actions_addfchdir_np(&actions_, request.current_dir));
    }
    short flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
    sigset_t signals;
    sigemptyset(&signals);
    note(posix_spawnattr_setsigmask(&attributes_, &signals));
    sigaddset(&signals, SIGPIPE);
    note(posix_spawnattr_setsigdefault(&attributes_, &signals));
    if (request.process_group) {
      flags |= POSIX_SPAWN_SETPGROUP;
      note(posix_spawnattr_setpgroup(&attributes_, *request.process_group));
    }
    if (request.new_session) flags |= POSIX_SPAWN_SETSID;
    note(posix_spawnattr_setflags(&attributes_, flags));
  }
  Preparation(const Preparation&) = delete;
  Preparation& operator=(const Preparation&) = delete;
  ~Preparation() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }

  [[nodiscard]] int error() const noexcept { return error_; }
  int spawn(const char* file, char* const* args, char* const* environment,
            pid_t& pid) const noexcept {
    return ::posix_spawn(&pid, file, &actions_, &attributes_, args, environment);
  }

 private:
  void note(int error) noexcept {
    if (error_ == 0) error_ = error;
  }
  /// From numbers above 2, so that none is overwritten before it was copied.
  void redirect(const SpawnRequest& request, int number) noexcept {
    int from = request.stdio[static_cast<std::size_t>(number)];
    if (from < 0) return;
    if (from < first_free_number) {
      io::OwnedFd& moved = moved_[static_cast<std::size_t>(number)];
      moved = io::OwnedFd(::fcntl(from, F_DUPFD_CLOEXEC, first_free_number));
      if (!moved) return note(errno);
      from = moved.get();
    }
    note(posix_spawn_file_actions_adddup2(&actions_, from, number));
  }

  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
  std::array<io::OwnedFd, 3> moved_;
  int error_ = 0;
};

/// Like execvp: a file without a known format is a script for the shell.
int spawn_file(const Preparation& preparation, const std::string& file, const SpawnRequest& request,
               char* const* environment, pid_t& pid) {
  const int error =
      preparation.spawn(file.c_str(), pointers(request.args).data(), environment, pid);
  if (error != ENOEXEC) return error;
  std::vector<std::string> script{"sh", file};
  script.insert(script.end(), request.args.begin() + 1, request.args.end());
  return preparation.spawn("/bin/sh", pointers(script).data(), environment, pid);
}

bool is_elsewhere_perhaps(int error) noexcept {
  return error == ENOENT || error == ENOTDIR || error == EACCES;
}

/// Saves starting a child where the file does not exist. The child itself decides what a relative
/// path means, and what is wrong with a file that can't be checked.
bool is_missing(const std::string& file) noexcept {
  return file.front() == '/' && ::access(file.c_str(), F_OK) != 0 &&
         (errno == ENOENT || errno == ENOTDIR);
}

/// Also like execvp: the first file that can be executed; if one failed for lack of permission,
/// that is the error.
int spawn_along_path(const Preparation& preparation, const SpawnRequest& request,
                     char* const* environment, pid_t& pid) {
  int worst = ENOENT;
  std::string_view rest = request.path;
  for (;;) {
    const std::size_t colon = rest.find(':');
    std::string file(rest.substr(0, colon));
    if (!file.empty()) file += '/';  // an empty entry is the current folder
    file += request.program;
    if (!is_missing(file)) {
      const int error = spawn_file(preparation, file, request, environment, pid);
      if (!is_elsewhere_perhaps(error)) return error;
      if (error == EACCES) worst = EACCES;
    }
    if (colon == std::string_view::npos) return worst;
    rest.remove_prefix(colon + 1);
  }
}

int spawn(const SpawnRequest& request, pid_t& pid) {
  const Preparation preparation(request);
  if (preparation.error() != 0) return preparation.error();
  const std::vector<char*> environment = pointers(request.environment);
  const bool is_path = request.program.find('/') != std::string::npos;
  return is_path ? spawn_file(preparation, request.program, request, environment.data(), pid)
                 : spawn_along_path(preparation, request, environment.data(), pid);
}

/// Errors: no_child_process if the system has already reaped it, as it does where SIGCHLD is
/// ignored. The number may then be that of another process.
Result<io::OwnedFd> pidfd_of(pid_t pid) noexcept {
  io::OwnedFd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));  // closed on exec
  if (pidfd) return pidfd;
  const std::error_code error = last_error();
  if (error == std::errc::no_such_process) return std::errc::no_child_process;
  kill_and_reap(pid);
  return error;
}

}  // namespace

Result<Spawned> spawn_process(const SpawnRequest& request, const char*& failed_step) {
  if (request.program.empty()) return std::errc::no_such_file_or_directory;
  pid_t pid = -1;
  const int error =
      needs_fork(request) ? fork_and_exec(request, pid, failed_step) : spawn(request, pid);
  if (error != 0) return error_of(error);
  Result<io::OwnedFd> pidfd = pidfd_of(pid);
  if (!pidfd) return pidfd.error();
  return Spawned{.pidfd = *std::move(pidfd), .pid = pid};
}

std::vector<std::string> environment() {
  std::vector<std::string> all;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    all.emplace_back(*entry);
  }
  return all;
}

Result<std::optional<ProcessEnd>> reap(int pidfd) noexcept {
  siginfo_t info{};
  const auto id = static_cast<id_t>(pidfd);
  if (retry([&] { return ::waitid(by_pidfd, id, &info, WEXITED | WNOHANG); }) != 0) {
    return last_error();
  }
  if (info.si_pid == 0) return std::optional<ProcessEnd>();
  return std::optional(ProcessEnd{.is_exit = info.si_code == CLD_EXITED,
                                  .value = info.si_status,
                                  .core_dumped = info.si_code == CLD_DUMPED});
}

void kill_and_reap(int pid) noexcept {
  siginfo_t info{};
  const auto id = static_cast<id_t>(pid);
  if (retry([&] { return ::waitid(P_PID, id, &info, WEXITED | WNOHANG | WNOWAIT); }) != 0) return;
  ::kill(pid, SIGKILL);
  retry([&] { return ::waitpid(pid, nullptr, 0); });
}

Result<void> send_signal(int pidfd, int number) noexcept {
  return done([&] { return ::syscall(SYS_pidfd_send_signal, pidfd, number, nullptr, 0); });
}

Result<io::OwnedFd> open_null() noexcept {
  io::OwnedFd fd(retry([] { return ::open("/dev/null", O_RDWR | O_CLOEXEC); }));
  if (!fd) return last_error();
  return fd;
}

Result<io::OwnedFd> open_folder(const std::string& path) noexcept {
  io::OwnedFd fd(retry([&] { return ::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC); }));
  if (!fd) return last_error();
  if (fd.get() >= first_free_number) return fd;
  // A standard stream of the child would take its place.
  io::OwnedFd above(::fcntl(fd.get(), F_DUPFD_CLOEXEC, first_free_number));
  if (!above) return last_error();
  return above;
}

}  // namespace rouse::sys
