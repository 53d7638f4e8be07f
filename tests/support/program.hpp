// Other programs, for tests: found, started on ports of loopback, read line by line, ended.
//
//   Program server({example("echo_server"), "127.0.0.1:0"});
//   const net::SocketAddr at = server.listening_on();
//
// Whatever happens to the test, its programs end with it. All waits have an end: what takes longer
// than `patience` has failed. For one thread, which also makes them: a program ends with that one.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

#include "rouse/net/socket_addr.hpp"

namespace rouse::test {

inline constexpr std::chrono::seconds patience{60};

/// Where a program is; empty if it is not installed.
std::string find_program(std::string_view name);
/// Where an example is, by ROUSE_EXAMPLES; empty if the examples are not built.
std::string example(std::string_view name);

/// How a program ended: its exit code, or minus the signal that ended it.
struct Ended {
  int status;
  std::string output;  ///< what it wrote to stdout after the lines that were read
};

class Program {
 public:
  /// Starts it with nothing to read on stdin. Throws std::system_error.
  explicit Program(const std::vector<std::string>& command);
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  /// Ends it, if that did not happen before.
  ~Program();

  [[nodiscard]] pid_t pid() const noexcept { return pid_; }
  /// The next line it writes to stdout. Throws std::runtime_error if there is none in time.
  std::string line();
  /// The address of its line "listening on ADDRESS", which must be the next.
  net::SocketAddr listening_on();
  /// Waits until something accepts connections there; for programs that don't say so. Throws
  /// std::runtime_error if it has ended meanwhile, or does not in time.
  void wait_for_port(std::uint16_t port);
  void send_signal(int signal) const;
  /// Waits until it has ended by itself. If not in time, it is killed: status is -9.
  Ended wait();

 private:
  bool read_some(std::chrono::steady_clock::time_point deadline);
  bool has_ended();

  pid_t pid_ = -1;
  int out_ = -1;
  int status_ = 0;
  bool is_reaped_ = false;
  std::string unread_;
};

/// Runs a program to its end.
Ended run_program(const std::vector<std::string>& command);
/// The same through a shell, for redirections.
Ended run_shell(const std::string& script);

/// A port of 127.0.0.1 at which nothing listens now, and which the system gives to nobody who does
/// not ask for it.
std::uint16_t free_port();

/// A directory that is removed at the end.
class TempDirectory {
 public:
  TempDirectory();
  TempDirectory(const TempDirectory&) = delete;
  TempDirectory& operator=(const TempDirectory&) = delete;
  ~TempDirectory();

  [[nodiscard]] std::string path() const { return path_.string(); }
  [[nodiscard]] std::string file(std::string_view name) const { return (path_ / name).string(); }
  void write(std::string_view name, std::string_view content) const;
  [[nodiscard]] std::string read(std::string_view name) const;

 private:
  std::filesystem::path path_;
};

/// So many bytes of all values that repeat nowhere near; the same for the same seed.
std::string noise(std::size_t size, std::uint64_t seed = 1);

}  // namespace rouse::test
