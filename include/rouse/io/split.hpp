// split(stream): a half to read and a half to write, for two tasks, on any two threads. Together
// they own the stream.
//
//   auto [reader, writer] = io::split(std::move(stream));
//   spawn(receive, std::move(reader)).detach();
//   co_await writer.write_all("hello\n");
//
// A stream that is not made for that (concurrent_halves) is polled by one half at a time; the other
// one meanwhile waits, as a task. Such a wait is as short as a poll.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "rouse/base/assert.hpp"
#include "rouse/base/atomic.hpp"
#include "rouse/base/ref_ptr.hpp"
#include "rouse/core/atomic_waker.hpp"
#include "rouse/io/async_read.hpp"
#include "rouse/io/async_write.hpp"
#include "rouse/io/concurrent_halves.hpp"
#include "rouse/io/read.hpp"
#include "rouse/io/readv.hpp"
#include "rouse/io/write.hpp"
#include "rouse/io/writev.hpp"

namespace rouse::io {

/// A lock between two tasks. One holds it only while it polls, so at most the other one waits.
class BiLock {
 public:
  /// False: the context's waker will be woken when the other one lets go.
  [[nodiscard]] bool poll_lock(const Context& cx) {
    if (try_lock()) return true;
    waiter_.register_waker(cx.waker());
    // Registered first: if the other one let go before, it is seen here.
    return try_lock();
  }
  void unlock() {
    // ORDER: release; publishes what this half did to the stream to the other.
    held_.store(false, memory_order_release);
    waiter_.wake();
  }

 private:
  /// ORDER: acq_rel; acquire sees what the other half did to the stream. Release, with acquire also
  /// if it fails: whoever then registers comes after the registration of the half that has the
  /// lock.
  bool try_lock() noexcept { return !held_.exchange(true, memory_order_acq_rel); }

  atomic<bool> held_{false};
  AtomicWaker waiter_;
};

/// The stream that two halves own.
template <class S>
class SplitStream : public RefCounted<SplitStream<S>> {
 public:
  explicit SplitStream(S stream) : stream_(std::move(stream)) {}

  /// What `poll` gives for the stream; pending while the other half is polling it.
  template <class Fn>
  auto poll_alone(const Context& cx, Fn&& poll) -> decltype(poll(std::declval<S&>())) {
    if constexpr (concurrent_halves<S>) {
      return poll(stream_);
    } else {
      if (!lock_.poll_lock(cx)) return pending;
      const Unlocking unlocking(lock_);
      return poll(stream_);
    }
  }
  [[nodiscard]] S take() { return std::move(stream_); }

 private:
  struct Unlocking {
    explicit Unlocking(BiLock& held) noexcept : lock(held) {}
    Unlocking(const Unlocking&) = delete;
    Unlocking& operator=(const Unlocking&) = delete;
    ~Unlocking() { lock.unlock(); }
    BiLock& lock;
  };

  S stream_;
  BiLock lock_;
};

/// The half that reads.
template <class S>
class ReadHalf : public ReadMembers<ReadHalf<S>> {
 public:
  explicit ReadHalf(RefPtr<SplitStream<S>> stream) noexcept : stream_(std::move(stream)) {}

  Poll<Result<std::size_t>> poll_read(Context& cx, std::span<std::byte> buf) {
    return checked().poll_alone(cx, [&](S& stream) { return stream.poll_read(cx, buf); });
  }
  Poll<Result<std::size_t>> poll_readv(Context& cx, std::span<const BufferMut> bufs)
    requires AsyncReadVectored<S>
  {
    return checked().poll_alone(cx, [&](S& stream) { return stream.poll_readv(cx, bufs); });
  }
  [[nodiscard]] const RefPtr<SplitStream<S>>& stream() const noexcept { return stream_; }

 private:
  SplitStream<S>& checked() const noexcept {
    ROUSE_ASSERT(stream_, "use of a half of a stream that was moved from");
    return *stream_;
  }
  RefPtr<SplitStream<S>> stream_;
};

/// The half that writes. Dropping it does not end the stream while the other half lives: shut it
/// down for that.
template <class S>
class WriteHalf : public WriteMembers<WriteHalf<S>> {
 public:
  explicit WriteHalf(RefPtr<SplitStream<S>> stream) noexcept : stream_(std::move(stream)) {}

  Poll<Result<std::size_t>> poll_write(Context& cx, std::span<const std::byte> data) {
    return checked().poll_alone(cx, [&](S& stream) { return stream.poll_write(cx, data); });
  }
  Poll<Result<std::size_t>> poll_writev(Context& cx, std::span<const Buffer> bufs)
    requires AsyncWriteVectored<S>
  {
    return checked().poll_alone(cx, [&](S& stream) { return stream.poll_writev(cx, bufs); });
  }
  Poll<Result<void>> poll_flush(Context& cx) {
    return checked().poll_alone(cx, [&](S& stream) { return stream.poll_flush(cx); });
  }
  Poll<Result<void>> poll_shutdown(Context& cx) {
    return checked().poll_alone(cx, [&](S& stream) { return stream.poll_shutdown(cx); });
  }
  [[nodiscard]] const RefPtr<SplitStream<S>>& stream() const noexcept { return stream_; }

 private:
  SplitStream<S>& checked() const noexcept {
    ROUSE_ASSERT(stream_, "use of a half of a stream that was moved from");
    return *stream_;
  }
  RefPtr<SplitStream<S>> stream_;
};

/// The two halves of a stream.
template <class S>
  requires(AsyncRead<S> && AsyncWrite<S>)
[[nodiscard]] std::pair<ReadHalf<S>, WriteHalf<S>> split(S stream) {
  RefPtr<SplitStream<S>> shared = make_ref<SplitStream<S>>(std::move(stream));
  return std::pair<ReadHalf<S>, WriteHalf<S>>(ReadHalf<S>(shared), WriteHalf<S>(shared));
}

/// The stream of two halves that belong together, while nothing polls them.
template <class S>
[[nodiscard]] S unsplit(ReadHalf<S> reader, WriteHalf<S> writer) {
  ROUSE_ASSERT(reader.stream() && reader.stream() == writer.stream(),
               "unsplit of halves of different streams: give it the two of one io::split");
  return reader.stream()->take();
}

}  // namespace rouse::io
