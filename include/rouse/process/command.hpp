// Command: a program to start.
//
//   auto listing = co_await process::Command("ls").arg("-l").output();
//
//   auto child = process::Command("sort").stdin_(Stdio::piped()).stdout_(Stdio::piped()).spawn();
//   auto sorted = co_await std::move(child).wait_with_output("b\na\n");
//
// No shell is involved: an argument is an argument, whatever is in it. The child gets 0, 1 and 2
// and no other descriptor of ours; no signal is blocked in it, and SIGPIPE ends it. A Command may
// be started any number of times.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <ranges>
#include <string>
#include <utility>
#include <vector>

#include "rouse/base/attributes.hpp"
#include "rouse/core/attempt.hpp"
#include "rouse/io/owned_fd.hpp"
#include "rouse/io/read_to_end.hpp"
#include "rouse/process/child.hpp"
#include "rouse/process/exit_status.hpp"
#include "rouse/process/output.hpp"

namespace rouse::process {

/// What becomes of one of the child's standard streams.
class ROUSE_API Stdio {
 public:
  /// The same as ours.
  static Stdio inherit() noexcept { return Stdio(How::inherit); }
  /// Empty, and takes all: /dev/null.
  static Stdio null() noexcept { return Stdio(How::null); }
  /// A pipe, whose other end is in the Child.
  static Stdio piped() noexcept { return Stdio(How::piped); }
  /// A descriptor of yours: a file, a socket, an end of another child's pipe. Ours is closed with
  /// the last Command that has it.
  static Stdio from(io::OwnedFd fd);

 private:
  friend class Launch;
  enum class How : std::uint8_t { inherit, null, piped, given };
  explicit Stdio(How how) noexcept : how_(how) {}

  How how_;
  std::shared_ptr<io::OwnedFd> fd_;
};

class ROUSE_API Command {
 public:
  /// A path if there is a slash in it; else it is looked for along the PATH that the child gets.
  explicit Command(std::string program) : program_(std::move(program)) {}

  Command& arg(std::string argument);
  template <std::ranges::input_range R>
  Command& args(R&& all) {
    for (auto&& each : all) arg(std::string(std::forward<decltype(each)>(each)));
    return *this;
  }
  /// The child has our environment, as it is when it is started, with these changes.
  Command& env(std::string name, std::string value);
  Command& env_remove(std::string name);
  /// None of ours, and none of the changes so far.
  Command& env_clear();
  /// Where the child begins. A program given as a relative path is looked for from there.
  Command& current_dir(std::string path);
  /// Default: inherit; with `output`: null for stdin, piped for the others.
  Command& stdin_(Stdio stdio);
  Command& stdout_(Stdio stdio);
  Command& stderr_(Stdio stdio);
  /// The process group; 0: a new one, so that Ctrl-C at the terminal is not sent to the child.
  Command& process_group(int group);
  /// Dropping the Child kills the process (SIGKILL). Default: it runs on.
  Command& kill_on_drop(bool on);
  /// What `output` and `wait_with_output` read at most of each stream. Default: 1 GiB.
  Command& output_limit(std::size_t bytes);

  /// Starts it; returns when the program runs, which takes a millisecond at most. Inside a runtime.
  /// Throws std::system_error: no_such_file_or_directory, permission_denied; its text says whether
  /// the program or the folder is meant; no_child_process if SIGCHLD is ignored (leave it alone to
  /// learn how a child ends) and it has ended already. Not while another thread changes the
  /// environment.
  [[nodiscard]] Child spawn() const;
  /// Starts it with the first poll, and completes when it has ended and closed its output. Dropped
  /// midway, what was read is lost; the process runs on unless kill_on_drop was said. Errors: as
  /// spawn; io::Error::too_long if it wrote more than output_limit: then it is killed.
  [[nodiscard]] Attempt<Output> output() const;
  /// Starts it with the first poll, and completes when it has ended. Streams that are piped are
  /// closed at once. Dropped midway, as output. Errors: as spawn and Child::wait.
  [[nodiscard]] Attempt<ExitStatus> status() const;

 private:
  friend class Launch;
  [[nodiscard]] std::vector<std::string> environment() const;

  std::string program_;
  std::vector<std::string> args_;
  bool clears_environment_ = false;
  std::map<std::string, std::optional<std::string>> changes_;  // nothing: removed
  std::optional<std::string> current_dir_;
  std::optional<Stdio> stdio_[3];
  std::optional<int> process_group_;
  bool kill_on_drop_ = false;
  std::size_t output_limit_ = io::default_read_limit;
};

}  // namespace rouse::process
