// split(stream): a read half and a write half, for two tasks on any two threads. Together they own
// the stream.
//
//   auto [reader, writer] = io::split(std::move(stream));
//   spawn(receive, std::move(reader)).detach();
//   co_await writer.write_all("hello\n");
//
// If the stream does not support concurrent use (is_full_duplex), one half at a time polls it;
// meanwhile the other half waits, as a task. Such a wait is as short as a poll.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "rouse/base/assert.hpp"
#include "rouse/base/atomic.hpp"
#include "rouse/base/ref_ptr.hpp"
#include "rouse/base/shape.hpp"
#include "rouse/core/atomic_waker.hpp"
#include "rouse/io/async_read.hpp"
#include "rouse/io/async_write.hpp"
#include "rouse/io/is_full_duplex.hpp"
#include "rouse/io/read.hpp"
#include "rouse/io/readv.hpp"
#include "rouse/io/write.hpp"
#include "rouse/io/writev.hpp"

namespace rouse::io {
template <class S>
class SplitStream;
}  // namespace rouse::io

namespace rouse::internal {

template <class S>
inline constexpr sight::Shape shape_of<RefPtr<io::SplitStream<S>>> = shape_of<io::SplitStream<S>*>;

/// A lock between two tasks. A task holds it only during a poll, so at most the other one waits.
class BiLock {
 public:
  /// False: the context's waker will be woken when the other one unlocks.
  [[nodiscard]] bool poll_lock(const Context& cx) {
    if (try_lock()) return true;
    waiter_.register_waker(cx.waker());
    // Registered first: an unlock by the other half in between is seen here.
    return try_lock();
  }
  /// Wakes the other half, if it waits.
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

}  // namespace rouse::internal

namespace rouse::io {

/// The stream that two halves own.
template <class S>
class SplitStream : public RefCounted<SplitStream<S>> {
 public:
  explicit SplitStream(S stream) : stream_(std::move(stream)) {}

  /// What `poll` gives for the stream; pending while the other half is polling it.
  template <class Fn>
  auto poll_alone(const Context& cx, Fn&& poll) -> decltype(poll(std::declval<S&>())) {
    if constexpr (is_full_duplex<S>) {
      return poll(stream_);
    } else {
      if constexpr (requires { stream_.is_full_duplex(); })
        if (stream_.is_full_duplex()) return poll(stream_);
      if (!lock_.poll_lock(cx)) return pending;
      const Unlocking unlocking(lock_);
      return poll(stream_);
    }
  }
  /// The stream, for what both halves may do at once.
  [[nodiscard]] S& get_ref() noexcept {
    static_assert(is_full_duplex<S>, "the halves of this stream take turns: only they may use it");
    return stream_;
  }
  /// The stream, when both halves are back.
  [[nodiscard]] S take() { return std::move(stream_); }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(SplitStream, nullptr, one, &SplitStream::stream_)

 private:
  struct Unlocking {
    explicit Unlocking(internal::BiLock& held) noexcept : lock(held) {}
    Unlocking(const Unlocking&) = delete;
    Unlocking& operator=(const Unlocking&) = delete;
    ~Unlocking() { lock.unlock(); }
    internal::BiLock& lock;
  };

  S stream_;
  internal::BiLock lock_;
};

/// What both halves have.
template <class S>
class StreamHalf {
 public:
  explicit StreamHalf(RefPtr<SplitStream<S>> stream) noexcept : stream_(std::move(stream)) {}

  /// What both halves share; null if it was moved from.
  [[nodiscard]] const RefPtr<SplitStream<S>>& stream() const noexcept { return stream_; }
  /// The stream, for what is no reading or writing. Only of one that is_full_duplex.
  [[nodiscard]] S& get_ref() const noexcept { return checked().get_ref(); }
  /// Of a stream that has addresses, e.g. net::TcpStream.
  [[nodiscard]] auto local_addr() const { return get_ref().local_addr(); }
  /// As local_addr.
  [[nodiscard]] auto peer_addr() const { return get_ref().peer_addr(); }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(StreamHalf, nullptr, one, &StreamHalf::stream_)

 protected:
  SplitStream<S>& checked() const noexcept {
    ROUSE_ASSERT(stream_, "use of a half of a stream that was moved from");
    return *stream_;
  }

 private:
  RefPtr<SplitStream<S>> stream_;
};

/// The read half.
template <class S>
class ReadHalf : public StreamHalf<S>, public ReadMembers<ReadHalf<S>> {
 public:
  using StreamHalf<S>::StreamHalf;

  Poll<Result<std::size_t>> poll_read(Context& cx, std::span<std::byte> buf) {
    return this->checked().poll_alone(cx, [&](S& stream) { return stream.poll_read(cx, buf); });
  }
  Poll<Result<std::size_t>> poll_readv(Context& cx, std::span<const BufferMut> bufs)
    requires AsyncReadVectored<S>
  {
    return this->checked().poll_alone(cx, [&](S& stream) { return stream.poll_readv(cx, bufs); });
  }
};

/// The write half. Dropping it does not close the writing side while the other half lives: shut it
/// down for that. (net::OwnedWriteHalf does.)
template <class S>
class WriteHalf : public StreamHalf<S>, public WriteMembers<WriteHalf<S>> {
 public:
  using StreamHalf<S>::StreamHalf;

  Poll<Result<std::size_t>> poll_write(Context& cx, std::span<const std::byte> data) {
    return this->checked().poll_alone(cx, [&](S& stream) { return stream.poll_write(cx, data); });
  }
  Poll<Result<std::size_t>> poll_writev(Context& cx, std::span<const Buffer> bufs)
    requires AsyncWriteVectored<S>
  {
    return this->checked().poll_alone(cx, [&](S& stream) { return stream.poll_writev(cx, bufs); });
  }
  Poll<Result<void>> poll_flush(Context& cx) {
    return this->checked().poll_alone(cx, [&](S& stream) { return stream.poll_flush(cx); });
  }
  Poll<Result<void>> poll_shutdown(Context& cx) {
    return this->checked().poll_alone(cx, [&](S& stream) { return stream.poll_shutdown(cx); });
  }
};

/// The two halves of a stream.
template <class S>
  requires(AsyncRead<S> && AsyncWrite<S>)
[[nodiscard]] std::pair<ReadHalf<S>, WriteHalf<S>> split(S stream) {
  RefPtr<SplitStream<S>> shared = make_ref<SplitStream<S>>(std::move(stream));
  return std::pair<ReadHalf<S>, WriteHalf<S>>(ReadHalf<S>(shared), WriteHalf<S>(shared));
}

/// Puts two halves of one stream together again, while nothing polls them.
template <class S>
[[nodiscard]] S unsplit(ReadHalf<S> reader, WriteHalf<S> writer) {
  ROUSE_ASSERT(reader.stream() && reader.stream() == writer.stream(),
               "unsplit of halves of different streams: give it the two of one io::split");
  return reader.stream()->take();
}

}  // namespace rouse::io
