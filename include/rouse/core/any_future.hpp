// AnyFuture<T>: an owning, type-erased future, for containers of different futures and for virtual
// functions. It takes over an Async without an allocation; any other future goes on the heap.
#pragma once

#include <new>
#include <type_traits>
#include <utility>

#include "rouse/base/internal/block_pool.hpp"
#include "rouse/core/async.hpp"
#include "rouse/core/future.hpp"

namespace rouse {

template <class T = void>
class [[gnu::warn_unused]] [[nodiscard(
    "a future does nothing until it is polled: co_await it or spawn it")]] AnyFuture {
 public:
  using Output = T;

  template <class F>
    requires(Future<std::remove_cvref_t<F>> && !std::same_as<std::remove_cvref_t<F>, AnyFuture> &&
             std::same_as<output_t<std::remove_cvref_t<F>>, T>)
  AnyFuture(F&& future) {
    using Held = std::remove_cvref_t<F>;
    static_assert(alignof(Held) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__,
                  "AnyFuture of an over-aligned future");
    if constexpr (fits<Held>) {
      new (&data_) Held(std::forward<F>(future));
    } else {
      void* memory = internal::allocate_block(sizeof(Held));
      try {
        data_ = new (memory) Held(std::forward<F>(future));
      } catch (...) {
        internal::free_block(memory, sizeof(Held));
        throw;
      }
    }
    vtable_ = &vtable_for<Held>;
  }
  AnyFuture(AnyFuture&& other) noexcept
      : vtable_(std::exchange(other.vtable_, nullptr)), data_(other.data_) {}
  AnyFuture& operator=(AnyFuture&& other) noexcept {
    AnyFuture old(std::move(other));  // `other` may be inside of this
    std::swap(vtable_, old.vtable_);
    std::swap(data_, old.data_);
    return *this;
  }
  ~AnyFuture() { reset(); }

  /// Whether the future inside borrows: see Async::borrows.
  [[nodiscard]] bool borrows() const noexcept { return vtable_ && vtable_->borrows(*this); }

  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(AnyFuture, nullptr, erased, &AnyFuture::vtable_, &AnyFuture::data_)
  Poll<T> poll(Context& cx) {
    ROUSE_ASSERT(vtable_, "poll() of an AnyFuture that was moved from");
    return vtable_->poll(*this, cx);
  }

 private:
  struct VTable {
    const sight::Shape* shape;
    Poll<T> (*poll)(AnyFuture&, Context&);
    bool (*borrows)(const AnyFuture&) noexcept;
    void (*destroy)(AnyFuture&) noexcept;
  };

  /// An Async is one pointer to its frame, and may be moved by copying that pointer.
  template <class F>
  static constexpr bool fits = internal::is_async<F>;

  template <class F>
  F& as() noexcept {
    if constexpr (fits<F>) {
      return *std::launder(reinterpret_cast<F*>(&data_));
    } else {
      return *static_cast<F*>(data_);
    }
  }

  template <class F>
  static Poll<T> poll_as(AnyFuture& self, Context& cx) {
    return self.as<F>().poll(cx);
  }
  template <class F>
  static bool borrows_as(const AnyFuture& self) noexcept {
    return internal::future_borrows(const_cast<AnyFuture&>(self).as<F>());
  }
  template <class F>
  static void destroy_as(AnyFuture& self) noexcept {
    self.as<F>().~F();
    if constexpr (!fits<F>) internal::free_block(self.data_, sizeof(F));
  }
  template <class F>
  static constexpr VTable vtable_for{&internal::shape_of<std::conditional_t<fits<F>, F, F*>>,
                                     poll_as<F>, borrows_as<F>, destroy_as<F>};

  void reset() noexcept {
    if (vtable_) std::exchange(vtable_, nullptr)->destroy(*this);
  }

  const VTable* vtable_ = nullptr;
  void* data_;  // the future itself if it fits, else where it is
};

}  // namespace rouse
