// Signal: waits for the signals of one kind that the process receives. ctrl_c: the next SIGINT.
//
//   signal::Signal hangup(signal::Kind::hangup());
//   for (;;) {
//     co_await hangup.recv();
//     reload();
//   }
//
// Every listener of a kind gets every signal, in whichever runtime it is. Signals that arrive
// faster than they are received are merged: after a recv check the state of the world, don't count.
//
// The first listener of a kind installs a handler, which stays even when the listener is gone: from
// then on SIGINT, for instance, no longer ends the program. A handler that was installed before is
// still called, afterwards; one that is installed later, by other means, takes the signals away
// from here. After fork(2) the child process has the handler too, but signals sent to it are not
// received here.
#pragma once

#include <cstdint>
#include <optional>

#include "rouse/base/internal/attributes.hpp"
#include "rouse/base/result.hpp"
#include "rouse/base/shape.hpp"
#include "rouse/core/context.hpp"
#include "rouse/core/result_future.hpp"
#include "rouse/core/stream.hpp"
#include "rouse/io/async_fd.hpp"
#include "rouse/signal/kind.hpp"

namespace rouse::signal {

class SignalRecv;

/// A stream of the kind, once for each signal received; it ends with the runtime. May be moved
/// between polls.
/// Threads: one task at a time.
class ROUSE_API Signal {
 public:
  using Item = Kind;

  /// Receives signals from now on.
  /// Threads: any, inside a runtime.
  /// Errors: throws std::system_error: invalid_argument for signals that can't be received
  /// (SIGKILL, SIGSTOP, SIGSEGV, SIGILL, SIGFPE, SIGBUS, and invalid numbers); the system's, if it
  /// has no descriptor left.
  explicit Signal(Kind kind);

  /// See SignalRecv.
  SignalRecv recv() noexcept ROUSE_LIFETIMEBOUND;
  Poll<Result<void>> poll_recv(Context& cx);
  Poll<std::optional<Kind>> poll_next(Context& cx);
  /// What it listens to.
  [[nodiscard]] Kind kind() const noexcept { return kind_; }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(Signal, nullptr, one, &Signal::event_)

 private:
  bool take_news() noexcept;

  Kind kind_;
  io::AsyncFd event_;
  std::uint64_t seen_;
};

/// Completes when a signal has arrived since the last recv, or since the Signal was created.
/// Cancel safety: dropping it loses nothing.
/// Threads: any; one at a time.
/// Errors: io::Error::runtime_ended.
class [[nodiscard("a future does nothing until it is polled: co_await it")]] SignalRecv
    : public ResultFuture<SignalRecv, void> {
 public:
  explicit SignalRecv(Signal& signal) noexcept : signal_(&signal) {}
  Poll<Result<void>> poll_result(Context& cx) { return signal_->poll_recv(cx); }
  [[nodiscard]] bool borrows() const noexcept { return true; }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(SignalRecv, "signal", one, &SignalRecv::signal_)

 private:
  Signal* signal_;
};

inline SignalRecv Signal::recv() noexcept { return SignalRecv(*this); }

/// See ctrl_c.
class [[nodiscard("a future does nothing until it is polled: co_await it")]] CtrlC
    : public ResultFuture<CtrlC, void> {
 public:
  CtrlC() : signal_(Kind::interrupt()) {}
  Poll<Result<void>> poll_result(Context& cx) { return signal_.poll_recv(cx); }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(CtrlC, "ctrl_c", one, &CtrlC::signal_)

 private:
  Signal signal_;
};

/// Completes with the first SIGINT after the call (not after the await): Ctrl-C at the terminal.
/// From the first call on, SIGINT no longer ends the program: see Signal.
/// Cancel safety: dropping it loses a signal that arrived meanwhile.
/// Threads: any.
/// Errors: io::Error::runtime_ended; throws what Signal's constructor throws.
[[nodiscard]] inline CtrlC ctrl_c() { return CtrlC(); }

}  // namespace rouse::signal
