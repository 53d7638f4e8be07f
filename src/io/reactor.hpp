// Reactor: turns the kernel's events into wakes. One per runtime; some thread of it waits in here
// whenever there is nothing to run.
//
// Events are found (`wait`) and dispatched (`dispatch`) in two steps, so that a worker counts as
// awake again before it wakes others. Both by one thread at a time.
//
// A source's slot is an index into chunks that only grow, and the token that the kernel keeps is
// that index and the slot's generation: see io/io_source.hpp.
#pragma once

#include <bit>
#include <cstdint>
#include <memory>

#include "rouse/base/internal/attributes.hpp"
#include "rouse/base/internal/durations.hpp"
#include "rouse/base/ref_ptr.hpp"
#include "rouse/base/thread.hpp"

#include "io/io_source.hpp"
#include "sys/poller.hpp"

namespace rouse::internal {

class Reactor : public RefCounted<Reactor> {
 public:
  /// Throws std::system_error.
  static RefPtr<Reactor> make();
  explicit Reactor(std::unique_ptr<sys::Poller> poller) noexcept : poller_(std::move(poller)) {}
  ~Reactor();

  /// This thread's; null outside of a runtime.
  static Reactor* current() noexcept;
  /// Sets it, and gives the one before.
  static Reactor* exchange_current(Reactor* reactor) noexcept;

  // Any thread.
  /// Watches `fd`. Errors: see sys::Poller::add; Error::runtime_ended.
  Result<IoSource*> add(int fd, io::Interest interest) noexcept;
  /// Before `fd` is closed. Nobody waits for the source any more.
  void remove(IoSource& source, int fd) noexcept;
  void wake() noexcept { poller_->wake(); }
  /// Nobody waits in here any more: waiters of all sources are woken with Error::runtime_ended.
  void close() noexcept;

  // One thread at a time.
  void wait(std::chrono::nanoseconds at_most) noexcept { found_ = poller_->wait(at_most); }
  /// Wakes the waiters for the events that `wait` found.
  void dispatch() noexcept;
  /// Any thread: how many sources there are, and how many events were handed out.
  [[nodiscard]] std::size_t sources() const noexcept { return sources_.load(memory_order_relaxed); }
  [[nodiscard]] std::uint64_t events() const noexcept { return events_.load(memory_order_relaxed); }
  [[nodiscard]] bool has_found() const noexcept { return !found_.empty(); }

 private:
  // Chunk k has first_chunk << k sources.
  static constexpr std::uint32_t first_chunk = model_checker ? 2 : 64;  // a model is to see it grow
  static constexpr std::size_t chunk_count = 24;
  static constexpr unsigned index_bits = 32;

  IoSource& at(std::uint32_t index) const noexcept;
  bool is_closed() noexcept;
  IoSource* take_slot() noexcept;
  void give_slot_back(IoSource& source) noexcept;
  bool grow() noexcept;

  const std::unique_ptr<sys::Poller> poller_;
  std::span<const sys::Event> found_;
  atomic<std::uint64_t> events_{0};  // written by who hands them out

  Mutex mutex_;
  IoSource* free_ = nullptr;  // guarded by mutex_, as the next ones
  std::size_t chunks_ = 0;
  bool closed_ = false;
  // Written under mutex_.
  atomic<std::size_t> sources_{0};
  // The same; read by whoever hands events out.
  atomic<IoSource*> chunk_[chunk_count] = {};
};

}  // namespace rouse::internal
