// AnyStream<T>: an owning, type-erased stream, for containers of different streams, for a StreamMap
// of them, and for virtual functions. One block of memory, and one indirect call per poll. It may
// be moved at any time. After the end it may be polled if its stream may.
// Cancel safety: that of the stream inside.
#pragma once

#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>

#include "rouse/base/internal/block_pool.hpp"
#include "rouse/core/internal/borrow.hpp"
#include "rouse/core/stream.hpp"

namespace rouse::stream {

template <class T>
class [[nodiscard("a stream does nothing until it is read: co_await next(s)")]] AnyStream {
 public:
  using Item = T;

  template <class S>
    requires(Stream<std::remove_cvref_t<S>> && !std::same_as<std::remove_cvref_t<S>, AnyStream> &&
             std::same_as<item_t<std::remove_cvref_t<S>>, T>)
  AnyStream(S&& stream) : held_(new Holder<std::remove_cvref_t<S>>(std::forward<S>(stream))) {}
  AnyStream(AnyStream&& other) noexcept : held_(std::exchange(other.held_, nullptr)) {}
  AnyStream& operator=(AnyStream other) noexcept {
    std::swap(held_, other.held_);
    return *this;
  }
  ~AnyStream() {
    if (held_) held_->type->destroy(*held_);
  }

  PollNext<T> poll_next(Context& cx) {
    ROUSE_ASSERT(held_, "use of an AnyStream that was moved from: use the one it went to");
    return held_->type->poll_next(*held_, cx);
  }

  /// Whether the stream inside borrows: see Async::borrows.
  [[nodiscard]] bool borrows() const noexcept { return held_ && held_->type->borrows(*held_); }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(AnyStream, nullptr, one, &AnyStream::held_)

 private:
  struct Held;
  struct Type {
    const sight::Shape* shape;
    PollNext<T> (*poll_next)(Held&, Context&);
    bool (*borrows)(const Held&) noexcept;
    void (*destroy)(Held&) noexcept;
  };
  struct Held {
    /// For a dump: the shape in `type` is of the whole Holder.
    ROUSE_SHAPE(Held, nullptr, erased, &Held::type, &Held::type)
    const Type* type;
  };

  template <Stream S>
  struct Holder : Held {
    static_assert(alignof(S) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__,
                  "AnyStream of an over-aligned stream");
    template <class Given>
    explicit Holder(Given&& given) : Held{&type_of}, stream(std::forward<Given>(given)) {}

    static void* operator new(std::size_t size) { return internal::allocate_block(size); }
    static void operator delete(void* held, std::size_t size) noexcept {
      internal::free_block(held, size);
    }

    /// For a dump: see base/shape.hpp.
    ROUSE_SHAPE(Holder, nullptr, one, &Holder::stream)
    S stream;

    static PollNext<T> poll(Held& held, Context& cx) {
      return static_cast<Holder&>(held).stream.poll_next(cx);
    }
    static bool borrows(const Held& held) noexcept {
      return internal::future_borrows(static_cast<const Holder&>(held).stream);
    }
    static void destroy(Held& held) noexcept { delete static_cast<Holder*>(&held); }
    static constexpr Type type_of{&internal::shape_of<Holder>, poll, borrows, destroy};
  };

  Held* held_;
};

}  // namespace rouse::stream
