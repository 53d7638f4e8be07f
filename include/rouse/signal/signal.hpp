// Signal: the signals of one kind that the process gets, as something to wait for. ctrl_c: the next
// SIGINT.
//
//   signal::Signal hangup(signal::Kind::hangup());
//   for (;;) {
//     co_await hangup.recv();
//     reload();
//   }
//
// Every listener of a kind gets each signal, in whichever runtime it is. Signals that come faster
// than they are received are one: after a recv look at the world, don't count.
//
// The first listener of a kind installs a handler that stays, also when the listener is gone: from
// then on SIGINT no longer ends the program, for instance. A handler that was there before is still
// called, after; one that is installed later, by other means, takes the signals away from here. A
// forked child has the handler too, but what it is sent is not received here.
#pragma once

#include <cstdint>
#include <optional>

#include "rouse/base/attributes.hpp"
#include "rouse/base/result.hpp"
#include "rouse/core/context.hpp"
#include "rouse/core/fallible.hpp"
#include "rouse/core/stream.hpp"
#include "rouse/io/async_fd.hpp"
#include "rouse/signal/kind.hpp"

namespace rouse::signal {

class SignalRecv;

/// A stream of the kind, once for each signal received; it ends with the runtime.
/// One task at a time. May be moved between polls.
class ROUSE_API Signal {
 public:
  using Item = Kind;

  /// Signals count from here on. Inside a runtime. Throws std::system_error: invalid_argument for
  /// those that can't be received (SIGKILL, SIGSTOP, SIGSEGV, SIGILL, SIGFPE, SIGBUS, and numbers
  /// that are none); what the system says, if it has no descriptor left.
  explicit Signal(Kind kind);

  /// See SignalRecv.
  SignalRecv recv() noexcept ROUSE_LIFETIMEBOUND;
  Poll<Result<void>> poll_recv(Context& cx);
  Poll<std::optional<Kind>> poll_next(Context& cx);
  [[nodiscard]] Kind kind() const noexcept { return kind_; }

 private:
  bool take_news() noexcept;

  Kind kind_;
  io::AsyncFd event_;
  std::uint64_t seen_;
};

/// Completes when a signal has come since the last recv, or since the Signal was made. Dropped
/// midway, nothing is lost. Any thread; one at a time. Errors: io::Error::runtime_ended.
class [[nodiscard("a future does nothing until it is polled: co_await it")]] SignalRecv
    : public Fallible<SignalRecv, void> {
 public:
  explicit SignalRecv(Signal& signal) noexcept : signal_(signal) {}
  Poll<Result<void>> poll_result(Context& cx) { return signal_.poll_recv(cx); }
  [[nodiscard]] bool borrows() const noexcept { return true; }

 private:
  Signal& signal_;
};

inline SignalRecv Signal::recv() noexcept { return SignalRecv(*this); }

/// See ctrl_c.
class [[nodiscard("a future does nothing until it is polled: co_await it")]] CtrlC
    : public Fallible<CtrlC, void> {
 public:
  CtrlC() : signal_(Kind::interrupt()) {}
  Poll<Result<void>> poll_result(Context& cx) { return signal_.poll_recv(cx); }

 private:
  Signal signal_;
};

/// Completes with the first SIGINT after the call (not: after the await): Ctrl-C at the terminal.
/// That no longer ends the program, from the first call on: see Signal. Dropped midway, a signal
/// that came meanwhile is lost to it. Any thread. Throws what Signal's constructor throws. Errors:
/// io::Error::runtime_ended.
[[nodiscard]] inline CtrlC ctrl_c() { return CtrlC(); }

}  // namespace rouse::signal
