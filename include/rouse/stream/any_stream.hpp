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
#include "rouse/base/internal/box.hpp"
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
  AnyStream(S&& stream)
      : held_(internal::make_box<Holder<std::remove_cvref_t<S>>>(std::forward<S>(stream))) {}

  PollNext<T> poll_next(Context& cx) {
    ROUSE_ASSERT(held_, "use of an AnyStream that was moved from: use the one it went to");
    return held_->poll_next(cx);
  }

  /// Whether the stream inside borrows: see Async::borrows.
  [[nodiscard]] bool borrows() const noexcept { return held_ && held_->borrows(); }

 private:
  class Held {
   public:
    Held() noexcept = default;
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;
    virtual ~Held() = default;
    virtual PollNext<T> poll_next(Context& cx) = 0;
    virtual bool borrows() const noexcept = 0;
  };

  template <Stream S>
  class Holder final : public Held {
   public:
    static_assert(alignof(S) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__,
                  "AnyStream of an over-aligned stream");
    explicit Holder(const S& stream) : stream_(stream) {}
    explicit Holder(S&& stream) : stream_(std::move(stream)) {}

    static void* operator new(std::size_t size) { return internal::allocate_block(size); }
    static void operator delete(void* held, std::size_t size) noexcept {
      internal::free_block(held, size);
    }

    PollNext<T> poll_next(Context& cx) override { return stream_.poll_next(cx); }
    bool borrows() const noexcept override { return internal::future_borrows(stream_); }

   private:
    S stream_;
  };

  internal::Box<Held> held_;
};

}  // namespace rouse::stream
