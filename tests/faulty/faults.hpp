// Faults: system calls that fail on command.
//
// This program is linked with --wrap for every call of the system that librouse.a makes (the list
// is wrapped_calls.txt): a reference to `recv` goes to __wrap_recv in wrap_*.cpp, which asks here
// whether to fail and else calls the real one. The library is the one that is shipped.
//
//   Injection fails(Fault("accept4", EMFILE).after(2));   // the third accept4 from now on fails
//   ...
//   EXPECT_EQ(fails.hits(), 1);
//
// For calls of all threads; made by one thread at a time, four at most. Asking takes no lock: a
// signal handler may.
#pragma once

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <string_view>

namespace rouse::faulty {

class Fault {
 public:
  /// The call, by the name of the function or, where one function does many things, with what it
  /// does: "epoll_ctl(ADD)", "fcntl(F_GETFL)". `error` is an errno, or an EAI_ value.
  Fault(std::string_view which, int with) noexcept : call(which), error(with) {}
  /// The call moves so many bytes (or messages) at most.
  static Fault shortened(std::string_view which, std::size_t most) noexcept {
    Fault fault(which, 0);
    fault.at_most = most;
    fault.times = every_time;
    return fault;
  }
  /// Lets `calls` of them pass before.
  Fault after(long calls) const noexcept {
    Fault fault = *this;
    fault.skip = calls;
    return fault;
  }
  Fault always() const noexcept {
    Fault fault = *this;
    fault.times = every_time;
    return fault;
  }

  static constexpr long every_time = -1;
  std::string_view call;  // of a literal
  int error;
  std::size_t at_most = 0;
  long skip = 0;
  long times = 1;
};

/// Arms a fault while it lives.
class Injection {
 public:
  explicit Injection(const Fault& fault);
  Injection(const Injection&) = delete;
  Injection& operator=(const Injection&) = delete;
  ~Injection();

  /// How many calls have failed.
  [[nodiscard]] long hits() const noexcept;
  /// How many calls were made while a fault of theirs was armed, from the first one on.
  static long asked() noexcept;

 private:
  class Armed;
  friend class Asked;
  Armed* armed_;
};

/// One call that asks what to do. For the wrappers.
class Asked {
 public:
  /// `fd`: if it is watched and the fault is one after which the kernel would tell of news, as
  /// EAGAIN is, the kernel is made to.
  explicit Asked(std::string_view call, int fd = -1) noexcept;

  [[nodiscard]] int error() const noexcept { return error_; }
  [[nodiscard]] bool fails() const noexcept { return error_ != 0; }
  [[nodiscard]] std::size_t shorten(std::size_t size) const noexcept {
    return at_most_ != 0 && size > at_most_ ? at_most_ : size;
  }

 private:
  int error_ = 0;
  std::size_t at_most_ = 0;
};

/// What `real` gives, or -1 and errno.
template <class Real>
auto pass(std::string_view call, int fd, Real real) noexcept -> decltype(real()) {
  const Asked asked(call, fd);
  if (!asked.fails()) return real();
  errno = asked.error();
  return static_cast<decltype(real())>(-1);
}
/// For calls that give the error itself.
template <class Real>
int pass_number(std::string_view call, Real real) noexcept {
  const Asked asked(call);
  return asked.fails() ? asked.error() : real();
}

/// What epoll knows of a descriptor: see Asked.
void note_watched(int epoll, int fd, unsigned events, unsigned long long token) noexcept;
void note_unwatched(int fd) noexcept;
/// The kernel tells again what a watched descriptor is ready for.
void tell_again(int fd) noexcept;

}  // namespace rouse::faulty
