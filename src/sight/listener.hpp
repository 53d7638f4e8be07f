// Listener: a socket that accepts connections, in this process only. A forked child gets a copy of
// each descriptor, and clients would wait for answers of a child that never accepts: so there it is
// closed, in the moment of the fork.
#pragma once

#include "rouse/base/internal/ring.hpp"
#include "rouse/io/owned_fd.hpp"

namespace rouse::sight {

class Listener : private rouse::internal::RingLink {
 public:
  explicit Listener(io::OwnedFd fd) noexcept;
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  ~Listener();

  /// -1 in a forked child.
  [[nodiscard]] int fd() const noexcept { return fd_.get(); }

 private:
  static void close_all_in_child() noexcept;
  static const bool forks_are_watched;

  io::OwnedFd fd_;
};

}  // namespace rouse::sight
