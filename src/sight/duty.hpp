// Duty: one of the things that the thread of sight does (sight_thread.hpp), such as to dump when a
// signal comes. All of a duty is called on that thread, but its constructor and destructor, which
// are called while the thread does not run.
#pragma once

#include <cstdint>

#include "rouse/base/internal/durations.hpp"
#include "rouse/io/ready.hpp"

#include "sys/poller.hpp"

namespace rouse::sight {

/// The descriptors that a duty waits for: told apart by a key of its own.
class Watch {
 public:
  /// `duty`: its number.
  Watch(sys::Poller& poller, std::uint32_t duty) noexcept : poller_(&poller), duty_(duty) {}
  /// Edge-triggered. Errors: those of sys::Poller::add.
  Result<void> add(int fd, std::uint32_t key, io::Interest interest) const noexcept {
    return poller_->add(fd, std::uint64_t{duty_} << 32 | key, interest);
  }
  void remove(int fd) const noexcept { poller_->remove(fd); }

 private:
  sys::Poller* poller_;
  std::uint32_t duty_;
};

class Duty {
 public:
  Duty() noexcept = default;
  Duty(const Duty&) = delete;
  Duty& operator=(const Duty&) = delete;
  virtual ~Duty() = default;

  /// A descriptor that was added with this key has become ready, or may have: flags of io::Ready.
  virtual void ready(std::uint32_t key, std::uint64_t flags) noexcept;
  /// Does what is due, after each wait of the thread; gives when it is to be called again at the
  /// latest.
  virtual std::chrono::nanoseconds look() noexcept = 0;
};

}  // namespace rouse::sight
