// The sys seam's poller, for models: in a build with the model checker this is found as
// "sys/poller.hpp". The same interface as src/sys/poller.hpp; what the kernel would notice is told
// by the model (`happens`).
//
// As the kernel does, it keeps its own order: what a thread did before it called `add` or `happens`
// is seen by whoever is told of it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "rouse/base/result.hpp"
#include "rouse/base/thread.hpp"
#include "rouse/io/ready.hpp"

namespace rouse::sys {

struct Event {
  std::uint64_t token;
  std::uint64_t ready;  ///< flags of io::Ready
};

class Poller {
 public:
  /// Descriptors are numbers below this.
  static constexpr std::size_t max_events = 8;

  static Result<std::unique_ptr<Poller>> make() noexcept;

  Result<void> add(int fd, std::uint64_t token, io::Interest interest) noexcept;
  void remove(int fd) noexcept;
  std::span<const Event> wait(std::chrono::nanoseconds at_most) noexcept;
  void wake() noexcept;

  /// Any thread. The descriptor has become ready for something: flags of io::Ready.
  void happens(int fd, std::uint64_t ready) noexcept;

 private:
  struct Watched {
    bool is_watched = false;
    std::uint64_t token = 0;
    std::uint64_t ready = 0;  // not yet told
  };
  [[nodiscard]] std::size_t take_events() noexcept;

  Mutex mutex_;  // guards all but what `wait` gave
  CondVar changed_;
  bool is_woken_ = false;
  Watched watched_[max_events];
  Event events_[max_events];
};

}  // namespace rouse::sys
