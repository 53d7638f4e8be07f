// Command: a program to start.
//
//   auto listing = co_await process::Command("ls").arg("-l").output();
//
//   auto child = process::Command("sort").stdin_(Stdio::piped()).stdout_(Stdio::piped()).spawn();
//   auto sorted = co_await std::move(child).wait_with_output("b\na\n");
//
// No shell is involved: an argument is passed unchanged, whatever is in it. The child gets
// descriptors 0, 1 and 2 and no other of ours; no signal is blocked in it, and SIGPIPE ends it. A
// Command may be started any number of times.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "rouse/base/function.hpp"
#include "rouse/base/internal/attributes.hpp"
#include "rouse/base/internal/box.hpp"
#include "rouse/base/ref_ptr.hpp"
#include "rouse/core/async_result.hpp"
#include "rouse/io/owned_fd.hpp"
#include "rouse/process/child.hpp"
#include "rouse/process/exit_status.hpp"
#include "rouse/process/output.hpp"

namespace rouse::internal {

/// A descriptor that several Commands are given.
class GivenFd : public RefCounted<GivenFd> {
 public:
  explicit GivenFd(io::OwnedFd fd) noexcept : fd_(std::move(fd)) {}
  /// The descriptor.
  [[nodiscard]] int get() const noexcept { return fd_.get(); }

 private:
  io::OwnedFd fd_;
};

class CommandState;

}  // namespace rouse::internal

namespace rouse::process {

/// Where one of the child's standard streams goes.
class ROUSE_API Stdio {
 public:
  /// The same as ours.
  static Stdio inherit() noexcept { return Stdio(How::inherit); }
  /// /dev/null: reads end of file, discards everything.
  static Stdio null() noexcept { return Stdio(How::null); }
  /// A pipe, whose other end is in the Child.
  static Stdio piped() noexcept { return Stdio(How::piped); }
  /// A descriptor of yours: a file, a socket, an end of another child's pipe. Our copy is closed
  /// with the last Command that holds it.
  static Stdio from(io::OwnedFd fd);

 private:
  friend class Launch;
  enum class How : std::uint8_t { inherit, null, piped, given };
  explicit Stdio(How how) noexcept : how_(how) {}

  How how_;
  RefPtr<internal::GivenFd> fd_;
};

class ROUSE_API Command {
 public:
  /// A path if it contains a slash; otherwise it is searched for in the child's PATH.
  explicit Command(std::string program);
  Command(const Command& other);
  Command(Command&& other) noexcept;
  Command& operator=(Command other) noexcept;
  ~Command();

  /// Adds an argument. No shell interprets it: it needs no quotes.
  Command& arg(std::string argument);
  /// Adds several.
  template <class R>
    requires requires(R& all) { std::begin(all) != std::end(all); }
  Command& args(R&& all) {
    for (auto&& each : all) arg(std::string(std::forward<decltype(each)>(each)));
    return *this;
  }
  /// The child gets our environment as of its start, with these changes.
  Command& env(std::string name, std::string value);
  /// The child has no such variable.
  Command& env_remove(std::string name);
  /// None of ours, and none of the changes so far.
  Command& env_clear();
  /// The child's working directory. A relative program path is resolved from there.
  Command& current_dir(std::string path);
  /// Default: inherit; with `output`: null for stdin, piped for the others.
  Command& stdin_(Stdio stdio);
  /// As stdin_.
  Command& stdout_(Stdio stdio);
  /// As stdin_.
  Command& stderr_(Stdio stdio);
  /// The process group; 0: a new one, so that Ctrl-C at the terminal does not reach the child.
  Command& process_group(int group);
  /// What the program sees as its own name, instead of the one it was given here.
  Command& arg0(std::string name);
  /// A new session, without a terminal; the child leads it and its process group. Not together with
  /// `process_group`: `spawn` fails with invalid_argument.
  Command& setsid(bool on);
  /// The user the child runs as; needs privileges. Its groups are dropped, unless `groups` says
  /// which: ours would be rights that it should not have.
  Command& uid(std::uint32_t user);
  /// The group the child runs as; needs privileges.
  Command& gid(std::uint32_t group);
  /// The supplementary groups; needs privileges.
  Command& groups(std::vector<std::uint32_t> all);
  /// Called in the child, after everything else and before the program is executed. Gives 0, or an
  /// errno, with which `spawn` then fails (or -1: then `errno` is it). Several are called in order.
  /// **Only async-signal-safe functions may be called** (signal-safety(7)): no memory, no locks, no
  /// logging, nothing of rouse; the other threads of this process are not there, and whatever they
  /// had locked stays locked. A memory write is seen by the child only.
  template <class Fn>
  Command& pre_exec(Fn fn) {
    static_assert(std::is_nothrow_invocable_r_v<int, Fn&>,
                  "pre_exec needs a noexcept function that gives 0 or an errno: "
                  "[]() noexcept { return ::setpriority(...) == 0 ? 0 : errno; }");
    return add_pre_exec(std::move(fn));
  }
  /// Dropping the Child kills the process (SIGKILL). Default: it runs on.
  Command& kill_on_drop(bool on);
  /// The limit of `output` and `wait_with_output` for each stream. Default: 1 GiB.
  Command& output_limit(std::size_t bytes);

  /// Starts it; returns when the program runs, which takes at most a millisecond.
  /// Threads: any, inside a runtime; not while another thread changes the environment.
  /// Errors: throws std::system_error: no_such_file_or_directory, permission_denied (its text says
  /// whether the program or the working directory is to blame, or names the step that failed:
  /// setuid, pre_exec); no_child_process if SIGCHLD is ignored (don't, if you want a child's
  /// status) and it has already ended.
  [[nodiscard]] Child spawn() const;
  /// Starts it at the first poll, and completes when it has ended and closed its output.
  /// Cancel safety: if dropped midway, what was read is lost; the process runs on unless
  /// kill_on_drop was set.
  /// Errors: as spawn; io::Error::too_long if it wrote more than output_limit: then it is killed.
  [[nodiscard]] AsyncResult<Output> output() const;
  /// Starts it at the first poll, and completes when it has ended. Piped streams are closed at
  /// once.
  /// Cancel safety: as output.
  /// Errors: as spawn and Child::wait.
  [[nodiscard]] AsyncResult<ExitStatus> status() const;

 private:
  friend class Launch;
  Command& add_pre_exec(Function<int()> fn);

  internal::Box<internal::CommandState> state_;  // null: moved from
};

}  // namespace rouse::process
