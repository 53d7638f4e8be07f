// sight::dump: every task of the process, in any build: what it is, where it was spawned, at which
// awaits it is, and for what it waits. Nothing is polled to find out, and tasks go on meanwhile.
//
//   std::puts(sight::dump().text().c_str());
//   sight::dump_to(2, sight::Format::json);        // without malloc, if something is very wrong
//
// Tasks of all runtimes, thread pools, LocalExecutors and LocalSets, and calls of blocking pools;
// those with equal chains are one group. What a future of your own waits for it says with
// ROUSE_SHAPE (base/shape.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "rouse/base/internal/attributes.hpp"
#include "rouse/base/internal/durations.hpp"
#include "rouse/base/result.hpp"

namespace rouse::sight {

enum class Format : std::uint8_t {
  text,    ///< for people
  json,    ///< for programs; its schema: docs/sight.schema.json
  folded,  ///< a line a chain with its count: what flame graphs are made of
};

/// How a dump is made.
class DumpOptions {
 public:
  DumpOptions() noexcept = default;
  /// How long to wait, in all, for tasks that are polled, and for LocalExecutors whose threads are
  /// busy; but an eighth of it for each executor, if others took long. Then they are only named.
  /// Inside a task nothing is waited for.
  DumpOptions& patience(std::chrono::nanoseconds time) noexcept {
    patience_ = time;
    return *this;
  }
  /// See above.
  [[nodiscard]] std::chrono::nanoseconds patience() const noexcept { return patience_; }

 private:
  std::chrono::nanoseconds patience_ = std::chrono::milliseconds(100);
};

/// What a dump saw.
class ROUSE_API Report {
 public:
  Report(std::string text, std::string json, std::string folded, std::size_t tasks) noexcept;
  Report(Report&&) noexcept = default;
  Report& operator=(Report&&) noexcept = default;
  ~Report();

  /// As Format says.
  [[nodiscard]] const std::string& text() const noexcept { return text_; }
  /// As Format says.
  [[nodiscard]] const std::string& json() const noexcept { return json_; }
  /// As Format says.
  [[nodiscard]] const std::string& folded() const noexcept { return folded_; }
  /// How many tasks there were.
  [[nodiscard]] std::size_t tasks() const noexcept { return tasks_; }

 private:
  std::string text_;
  std::string json_;
  std::string folded_;
  std::size_t tasks_;
};

/// Threads: any, also inside a task. Others that dump meanwhile wait.
[[nodiscard]] ROUSE_API Report dump(const DumpOptions& options = {});

/// Writes a dump to a descriptor. Needs no memory but pages of its own, and no lock that a task may
/// hold for long: so it works while every worker is stuck, also inside malloc.
/// Errors: those of write(2), without SIGPIPE. A descriptor that does not block and is full is
/// waited for; if it takes nothing for a second: resource_unavailable_try_again.
ROUSE_API Result<void> dump_to(int fd, Format format = Format::text,
                               const DumpOptions& options = {}) noexcept;

}  // namespace rouse::sight
