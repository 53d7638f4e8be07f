// The sys seam, poller: tells which descriptors have become ready. Edge-triggered: each change is
// told once. See src/sys/README.md.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "rouse/base/internal/durations.hpp"
#include "rouse/base/result.hpp"
#include "rouse/io/owned_fd.hpp"
#include "rouse/io/ready.hpp"

namespace rouse::sys {

struct Event {
  std::uint64_t token;
  std::uint64_t ready;  ///< flags of io::Ready
};

class Poller {
 public:
  /// So many events at most are told at once.
  static constexpr std::size_t max_events = 1024;

  static Result<std::unique_ptr<Poller>> make() noexcept;

  /// `token` comes with each event of `fd`; not all ones. Errors: io::Error::not_pollable;
  /// file_exists (`fd` was added before); bad_file_descriptor.
  Result<void> add(int fd, std::uint64_t token, io::Interest interest) noexcept;
  /// Any thread. No event of `fd` is told by a `wait` that begins after. In a forked child it does
  /// nothing: the parent goes on watching.
  void remove(int fd) noexcept;

  /// Waits for events, until `wake` or so long. What is given holds until the next call. One thread
  /// at a time.
  std::span<const Event> wait(std::chrono::nanoseconds at_most) noexcept;
  /// Ends the current or the next `wait`. Any thread.
  void wake() noexcept;

 private:
  Poller() noexcept = default;
  [[nodiscard]] bool is_of_parent() const noexcept;
  void refuse_in_forked_child() const noexcept;

  std::uint32_t forks_before_ = 0;  // sys::process_forks when this was made
  io::OwnedFd epoll_;
  io::OwnedFd wake_;
  Event events_[max_events];
};

}  // namespace rouse::sys
