// OwnedReadHalf, OwnedWriteHalf: a connection for two tasks, on any two threads.
//
//   auto [reader, writer] = std::move(stream).split();
//   spawn(receive, std::move(reader)).detach();
//   co_await writer.write_all("hello\n");
//
// Dropping the write half shuts its direction down: the peer reads what was written, and then end
// of file. The connection is closed when both halves are gone. `io::unsplit` puts them together
// again. Futures of one task that share the stream need no halves: each may borrow the stream.
#pragma once

#include <utility>

#include "rouse/core/waker.hpp"
#include "rouse/io/split.hpp"

namespace rouse::net {

/// The read half of a TcpStream or UnixStream. Dropping it leaves the direction open: the peer
/// notices nothing until both halves are gone.
template <class S>
using OwnedReadHalf = io::ReadHalf<S>;

/// The write half of a TcpStream or UnixStream. Dropping it shuts the direction down, as `shutdown`
/// does.
template <class S>
class OwnedWriteHalf : public io::WriteHalf<S> {
 public:
  using io::WriteHalf<S>::WriteHalf;
  OwnedWriteHalf(OwnedWriteHalf&&) noexcept = default;
  /// Shuts down the direction that it had.
  OwnedWriteHalf& operator=(OwnedWriteHalf other) noexcept {
    std::swap<io::WriteHalf<S>>(*this, other);
    return *this;
  }
  ~OwnedWriteHalf() {
    if (!this->stream()) return;
    Context cx(Waker::noop());
    (void)this->get_ref().poll_shutdown(cx);
  }
  /// Drops the half and leaves its direction open, until the other half is gone, too.
  void forget() && noexcept { const io::WriteHalf<S> dropped(std::move(*this)); }
};

/// Base of a connection: `class TcpStream : public OwnedSplit<TcpStream>`.
template <class Self>
class OwnedSplit {
 public:
  using Halves = std::pair<OwnedReadHalf<Self>, OwnedWriteHalf<Self>>;

  /// Two halves for two tasks, on any threads. The stream moves into them.
  [[nodiscard]] Halves split() && {
    auto stream = make_ref<io::SplitStream<Self>>(std::move(static_cast<Self&>(*this)));
    return Halves(OwnedReadHalf<Self>(stream), OwnedWriteHalf<Self>(stream));
  }
  /// Refused: it would leave an empty stream behind.
  Halves split() & {
    static_assert(sizeof(Self) == 0, "split takes the stream over: std::move(stream).split()");
    return std::move(*this).split();
  }
};

}  // namespace rouse::net
