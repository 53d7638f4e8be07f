// Launch: one start of a Command: its descriptors, its environment, and what fails on the way.
#pragma once

#include <array>
#include <optional>

#include "rouse/io/async_fd.hpp"
#include "rouse/io/owned_fd.hpp"
#include "rouse/process/child.hpp"
#include "rouse/process/command.hpp"

#include "sys/process.hpp"

namespace rouse::process {

class Launch {
 public:
  /// `captures`: what was not said about stdio is as `output` wants it.
  Launch(const Command& command, bool captures);

  /// Once; and then drop this, which has the child's ends of the pipes open. Throws
  /// std::system_error.
  Child start();

 private:
  static constexpr std::size_t streams = 3;

  [[nodiscard]] Stdio stdio(std::size_t stream) const;
  void connect(std::size_t stream);
  void connect_pipe(std::size_t stream);
  void describe_program();
  void check_strings() const;
  void check_group() const;
  void check_ids() const;
  void open_current_dir();
  [[noreturn]] void fail(std::error_code error, const char* step = nullptr) const;

  const internal::CommandState& state_;
  const bool captures_;
  sys::SpawnRequest request_;
  io::OwnedFd current_dir_;
  std::array<io::OwnedFd, streams> theirs_;
  std::array<std::optional<io::AsyncFd>, streams> ours_;
};

}  // namespace rouse::process
