// The child of a process with threads may call only what is async-signal-safe until it executes:
// all memory is had before the fork, and `_Fork` runs no handlers of pthread_atfork. The ids are
// changed by calls of the system itself: those of libc change all threads, of which the child has
// one. The child tells its error through a pipe that is closed by exec.
#include "sys/linux/fork_exec.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <pthread.h>
#include <string_view>
#include <sys/syscall.h>
#include <unistd.h>

#include "rouse/io/owned_fd.hpp"

#include "sys/linux/call.hpp"

namespace rouse::sys {
namespace {

constexpr std::array<const char*, 8> step_names{
    "stdio", "current_dir", "setsid", "process_group", "setgroups", "setgid", "setuid", "pre_exec"};
enum class Step : int { stdio, current_dir, session, group, groups, gid, uid, pre_exec, exec };

/// What the child tells.
struct Failure {
  Step step;
  int error;
};

/// The files that may be meant, in order; none of them need exist.
std::vector<std::string> candidates(const SpawnRequest& request) {
  if (request.program.find('/') != std::string::npos) return {request.program};
  std::vector<std::string> files;
  std::string_view rest = request.path;
  for (;;) {
    const std::size_t colon = rest.find(':');
    std::string file(rest.substr(0, colon));
    if (!file.empty()) file += '/';  // an empty entry is the current folder
    files.push_back(file + request.program);
    if (colon == std::string_view::npos) return files;
    rest.remove_prefix(colon + 1);
  }
}

/// All that the child needs, with its memory.
class Program {
 public:
  explicit Program(const SpawnRequest& request)
      : files_(candidates(request)),
        args_(pointers(request.args)),
        environment_(pointers(request.environment)),
        script_args_(args_) {
    script_args_.insert(script_args_.begin(), const_cast<char*>("sh"));  // then the file
  }

  /// Like execvp: the first file that can be executed; if one failed for lack of permission, that
  /// is the error. A file without a known format is a script for the shell.
  int execute() noexcept {
    int worst = ENOENT;
    for (const std::string& file : files_) {
      ::execve(file.c_str(), args_.data(), environment_.data());
      if (errno == ENOEXEC) {
        script_args_[1] = const_cast<char*>(file.c_str());
        ::execve("/bin/sh", script_args_.data(), environment_.data());
        return errno;
      }
      if (files_.size() == 1) return errno;
      if (errno == EACCES) worst = EACCES;
      if (errno != ENOENT && errno != ENOTDIR && errno != EACCES) return errno;
    }
    return worst;
  }

 private:
  std::vector<std::string> files_;
  std::vector<char*> args_;
  std::vector<char*> environment_;
  std::vector<char*> script_args_;
};

/// 0, or errno.
int tried(long result) noexcept { return result < 0 ? errno : 0; }

int connect_stdio(std::array<int, 3> from) noexcept {
  for (int& each : from) {  // above 2, so that none is overwritten before it was copied
    if (each < 0 || each >= first_free_number) continue;
    each = ::fcntl(each, F_DUPFD_CLOEXEC, first_free_number);
    if (each < 0) return errno;
  }
  for (int number = 0; number < first_free_number; ++number) {
    const int each = from[static_cast<std::size_t>(number)];
    if (each >= 0 && ::dup2(each, number) < 0) return errno;
  }
  return 0;
}

/// A function may pass on what a call of the system gave: -1, and errno.
int error_of_function(int error) noexcept {
  if (error > 0) return error;
  return errno != 0 ? errno : EINVAL;
}

/// Not if it is not ours to change: then there are none to drop.
int set_groups(const SpawnRequest& request) noexcept {
  if (request.groups) {
    return tried(::syscall(SYS_setgroups, request.groups->size(), request.groups->data()));
  }
  if (!request.uid || ::geteuid() != 0) return 0;
  return tried(::syscall(SYS_setgroups, 0, nullptr));
}

/// No handler of ours may run in the child, and what it executes has nothing blocked. What is
/// ignored stays so, except SIGPIPE.
void reset_signals() noexcept {
  struct sigaction usual{};
  usual.sa_handler = SIG_DFL;
  for (int number = 1; number < NSIG; ++number) {
    struct sigaction now{};
    if (::sigaction(number, nullptr, &now) != 0) continue;
    const bool is_ignored = (now.sa_flags & SA_SIGINFO) == 0 && now.sa_handler == SIG_IGN;
    if (!is_ignored || number == SIGPIPE) ::sigaction(number, &usual, nullptr);
  }
  sigset_t none;
  sigemptyset(&none);
  pthread_sigmask(SIG_SETMASK, &none, nullptr);
}

Failure become(const SpawnRequest& request, Program& program) noexcept {
  if (const int error = connect_stdio(request.stdio)) return {Step::stdio, error};
  if (request.current_dir >= 0 && ::fchdir(request.current_dir) != 0) {
    return {Step::current_dir, errno};
  }
  if (request.new_session && ::setsid() < 0) return {Step::session, errno};
  if (request.process_group && ::setpgid(0, *request.process_group) != 0) {
    return {Step::group, errno};
  }
  if (const int error = set_groups(request)) return {Step::groups, error};
  if (request.gid) {
    const auto id = *request.gid;
    if (const int error = tried(::syscall(SYS_setresgid, id, id, id))) return {Step::gid, error};
  }
  if (request.uid) {
    const auto id = *request.uid;
    if (const int error = tried(::syscall(SYS_setresuid, id, id, id))) return {Step::uid, error};
  }
  reset_signals();
  for (const Function<int()>& each : request.pre_exec) {
    errno = 0;
    if (const int error = each()) return {Step::pre_exec, error_of_function(error)};
  }
  return {Step::exec, program.execute()};
}

[[noreturn]] void run_child(const SpawnRequest& request, Program& program, int tell) noexcept {
  const Failure failure = become(request, program);
  static_cast<void>(retry([&] { return ::write(tell, &failure, sizeof failure); }));
  ::_exit(127);
}

/// Signals wait meanwhile: the child must not run our handlers.
class SignalsWait {
 public:
  SignalsWait() noexcept {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  SignalsWait(const SignalsWait&) = delete;
  SignalsWait& operator=(const SignalsWait&) = delete;
  ~SignalsWait() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

}  // namespace

bool needs_fork(const SpawnRequest& request) noexcept {
  return request.uid || request.gid || request.groups || !request.pre_exec.empty();
}

int fork_and_exec(const SpawnRequest& request, pid_t& pid, const char*& failed_step) {
  Program program(request);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return errno;
  const io::OwnedFd hear(ends[0]);
  io::OwnedFd tell(ends[1]);
  if (tell.get() < first_free_number) {  // a standard stream of the child would take its place
    const int above = ::fcntl(tell.get(), F_DUPFD_CLOEXEC, first_free_number);
    if (above < 0) return errno;
    tell = io::OwnedFd(above);
  }
  {
    const SignalsWait signals_wait;
    pid = ::_Fork();
    if (pid == 0) run_child(request, program, tell.get());
    if (pid < 0) return errno;
  }
  tell.close();
  Failure failure{};
  const auto heard = retry([&] { return ::read(hear.get(), &failure, sizeof failure); });
  if (heard == 0) return 0;  // closed by exec
  const int error = heard < 0 ? errno : failure.error;
  const auto step = static_cast<std::size_t>(failure.step);
  if (heard > 0 && step < step_names.size()) failed_step = step_names[step];
  kill_and_reap(pid);  // it has ended, or nobody knows what it does
  return error;
}

}  // namespace rouse::sys
