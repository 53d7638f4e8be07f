// AnyConnection: an owning, type-erased stream of bytes both ways: a TcpStream, a UnixStream, an
// end of a duplex, or what is built on them. For code that is compiled once for all of them, and
// for containers and virtual functions.
//
//   io::AnyConnection peer(co_await net::TcpStream::connect("127.0.0.1:80"));
//   co_await peer.write_all("hello\n");
//
// One block of memory, and one indirect call per poll. It may be moved whenever the stream inside
// may. Everything else is the stream's own: cancel safety, errors, what its destructor does.
#pragma once

#include <concepts>
#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>

#include "rouse/base/assert.hpp"
#include "rouse/base/internal/block_pool.hpp"
#include "rouse/base/shape.hpp"
#include "rouse/io/async_read.hpp"
#include "rouse/io/async_write.hpp"
#include "rouse/io/is_full_duplex.hpp"
#include "rouse/io/read.hpp"
#include "rouse/io/readv.hpp"
#include "rouse/io/write.hpp"
#include "rouse/io/writev.hpp"

namespace rouse::io {

/// Threads: those of the stream inside.
class AnyConnection : public ReadMembers<AnyConnection>, public WriteMembers<AnyConnection> {
 public:
  /// Takes over a stream. Throws std::bad_alloc, and what moving the stream throws.
  template <class S>
    requires(!std::same_as<std::remove_cvref_t<S>, AnyConnection> &&
             AsyncRead<std::remove_cvref_t<S>> && AsyncWrite<std::remove_cvref_t<S>>)
  AnyConnection(S&& stream) : held_(new Holder<std::remove_cvref_t<S>>(std::forward<S>(stream))) {}
  AnyConnection(AnyConnection&& other) noexcept : held_(std::exchange(other.held_, nullptr)) {}
  AnyConnection& operator=(AnyConnection other) noexcept {
    std::swap(held_, other.held_);
    return *this;
  }
  ~AnyConnection() {
    if (held_) held_->type->destroy(*held_);
  }

  Poll<Result<std::size_t>> poll_read(Context& cx, std::span<std::byte> buf) {
    Held& held = checked();
    return held.type->read(held, cx, buf);
  }
  /// Of a stream without one: as `readv` of it.
  Poll<Result<std::size_t>> poll_readv(Context& cx, std::span<const BufferMut> bufs) {
    Held& held = checked();
    return held.type->readv(held, cx, bufs);
  }
  Poll<Result<std::size_t>> poll_write(Context& cx, std::span<const std::byte> data) {
    Held& held = checked();
    return held.type->write(held, cx, data);
  }
  /// Of a stream without one: as `writev` of it.
  Poll<Result<std::size_t>> poll_writev(Context& cx, std::span<const Buffer> bufs) {
    Held& held = checked();
    return held.type->writev(held, cx, bufs);
  }
  Poll<Result<void>> poll_flush(Context& cx) {
    Held& held = checked();
    return held.type->flush(held, cx);
  }
  Poll<Result<void>> poll_shutdown(Context& cx) {
    Held& held = checked();
    return held.type->shutdown(held, cx);
  }

  /// Whether the stream inside may be read and written at the same time. `split` asks: its halves
  /// take turns only where they must.
  [[nodiscard]] bool is_full_duplex() const noexcept { return checked().type->is_full_duplex; }

 private:
  struct Held;
  struct Type {
    const sight::Shape* shape;
    Poll<Result<std::size_t>> (*read)(Held&, Context&, std::span<std::byte>);
    Poll<Result<std::size_t>> (*readv)(Held&, Context&, std::span<const BufferMut>);
    Poll<Result<std::size_t>> (*write)(Held&, Context&, std::span<const std::byte>);
    Poll<Result<std::size_t>> (*writev)(Held&, Context&, std::span<const Buffer>);
    Poll<Result<void>> (*flush)(Held&, Context&);
    Poll<Result<void>> (*shutdown)(Held&, Context&);
    void (*destroy)(Held&) noexcept;
    bool is_full_duplex;
  };
  struct Held {
    /// For a dump: the shape in `type` is of the whole Holder.
    ROUSE_SHAPE(Held, nullptr, erased, &Held::type, &Held::type)
    const Type* type;
  };

  template <class S>
  struct Holder : Held {
    static_assert(alignof(S) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__,
                  "AnyConnection of an over-aligned stream");
    template <class Given>
    explicit Holder(Given&& given) : Held{&type_of}, stream(std::forward<Given>(given)) {}

    static void* operator new(std::size_t size) { return internal::allocate_block(size); }
    static void operator delete(void* held, std::size_t size) noexcept {
      internal::free_block(held, size);
    }

    /// For a dump: see base/shape.hpp.
    ROUSE_SHAPE(Holder, nullptr, one, &Holder::stream)
    S stream;

    static S& in(Held& held) noexcept { return static_cast<Holder&>(held).stream; }
    static Poll<Result<std::size_t>> read(Held& held, Context& cx, std::span<std::byte> buf) {
      return in(held).poll_read(cx, buf);
    }
    static Poll<Result<std::size_t>> readv(Held& held, Context& cx,
                                           std::span<const BufferMut> bufs) {
      return io::poll_readv(in(held), cx, bufs);
    }
    static Poll<Result<std::size_t>> write(Held& held, Context& cx,
                                           std::span<const std::byte> data) {
      return in(held).poll_write(cx, data);
    }
    static Poll<Result<std::size_t>> writev(Held& held, Context& cx, std::span<const Buffer> bufs) {
      return io::poll_writev(in(held), cx, bufs);
    }
    static Poll<Result<void>> flush(Held& held, Context& cx) { return in(held).poll_flush(cx); }
    static Poll<Result<void>> shutdown(Held& held, Context& cx) {
      return in(held).poll_shutdown(cx);
    }
    static void destroy(Held& held) noexcept { delete static_cast<Holder*>(&held); }
    static constexpr Type type_of{
        &internal::shape_of<Holder>, read, readv, write, writev, flush, shutdown, destroy,
        io::is_full_duplex<S>};
  };

  Held& checked() const noexcept {
    ROUSE_ASSERT(held_, "use of an AnyConnection that was moved from: use the one it went to");
    return *held_;
  }

  Held* held_;

 public:
  /// For a dump: see base/shape.hpp. Comes after the shape of Held, which it needs.
  ROUSE_SHAPE(AnyConnection, nullptr, one, &AnyConnection::held_)
};

}  // namespace rouse::io
