// parallel_all(range): runs all futures of a range, on several threads where available, and is
// ready with the vector of their outputs, in the order of the range, when the last one is. For void
// futures its output is void. Everything said about `parallel` (exec/parallel.hpp) holds.
// Of an InplaceVector (base/inplace_vector.hpp) it makes another one, and allocates nothing but the
// children's frames.
#pragma once

#include <concepts>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <span>  // std::ranges::enable_view, without the cost of <ranges>
#include <type_traits>
#include <utility>
#include <vector>

#include "rouse/exec/internal/branches.hpp"

namespace rouse {

template <class T, std::size_t N>
class InplaceVector;

namespace internal {

/// Where what comes of a range is kept: in a vector, or as its elements are.
template <class Range, class T>
struct KeptLike {
  using type = std::vector<T>;
};
template <class Element, std::size_t N, class T>
struct KeptLike<InplaceVector<Element, N>, T> {
  using type = InplaceVector<T, N>;
};

}  // namespace internal

template <class T, class Children = std::vector<Async<T>>>
class [[nodiscard(
    "a future does nothing until it is polled: co_await it or spawn it")]] ParallelAll {
 public:
  using Output = std::conditional_t<std::is_void_v<T>, void,
                                    typename internal::KeptLike<Children, stored_t<T>>::type>;

  /// Of coroutines that were not begun.
  explicit ParallelAll(Children&& children) noexcept
      : children_(std::move(children)), region_(size()) {}
  ParallelAll(ParallelAll&& other) noexcept
      : children_(std::move(other.children_)), region_(size()) {
    internal::refuse_to_move(other.region_);
  }
  ~ParallelAll() {
    region_.end();
    while (!children_.empty()) children_.pop_back();
  }

  Poll<Output> poll(Context& cx) {
    if (!await_ready() && !region_.poll_alone(frames(), cx)) return pending;
    if constexpr (std::is_void_v<T>) {
      await_resume();
      return Poll<void>::ready();
    } else {
      return Poll<Output>::ready(await_resume());
    }
  }

  [[nodiscard]] bool borrows() const noexcept {
    for (const Async<T>& child : children_) {
      if (child.borrows()) return true;
    }
    return false;
  }

  // --- For `co_await`, which waits with this itself: no awaiter lies beside it in the frame. ---

  static constexpr bool is_its_awaiter = true;
  bool await_ready() const noexcept { return children_.empty(); }
  /// Begins the last child, and offers the others. For coroutines with our frames only.
  template <std::derived_from<internal::Frame> Promise>
  internal::Transfer await_suspend(std::coroutine_handle<Promise> parent) noexcept {
    ROUSE_ASSERT(!region_.has_started(), "a parallel_all(...) was awaited again: await it once");
    return region_.start_many(parent.promise(), frames());
  }
  /// The outputs, once all children have ended.
  Output await_resume() {
    region_.throw_if_lost();
    if constexpr (std::is_void_v<T>) {
      for (std::uint32_t i = 0; i < size(); ++i) internal::take_result<T>(*frames()[i]);
    } else {
      Output outputs;
      if constexpr (requires { outputs.reserve(size()); }) outputs.reserve(size());
      for (std::uint32_t i = 0; i < size(); ++i) {
        outputs.push_back(internal::take_result<T>(*frames()[i]));
      }
      return outputs;
    }
  }

 private:
  std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(children_.size()); }
  internal::Frame** frames() noexcept { return Async<T>::frames_of(children_.data()); }

  Children children_;
  internal::ForkRegion region_;
};

/// A container passed as an rvalue is moved from; otherwise the elements are copied, or moved if
/// they are prvalues.
template <class Range>
auto parallel_all(Range&& range) {
  using Element = decltype(*std::begin(range));
  using F = std::remove_cvref_t<Element>;
  constexpr bool owns =
      !std::is_lvalue_reference_v<Range> && !std::ranges::enable_view<std::remove_cvref_t<Range>>;
  using Given = std::conditional_t<owns, std::remove_reference_t<Element>&&, Element&&>;
  constexpr bool can_keep = std::constructible_from<F, Given>;
  static_assert(Future<F>, "parallel_all needs a range of futures");
  static_assert(!Future<F> || can_keep,
                "parallel_all keeps its futures by value and these can't be copied: write "
                "parallel_all(std::move(futures))");
  if constexpr (Future<F> && can_keep) {
    using Children =
        typename internal::KeptLike<std::remove_cvref_t<Range>, Async<output_t<F>>>::type;
    if constexpr (std::is_same_v<Range, Children>) {
      for (auto& child : range) {
        if (child.is_started()) [[unlikely]]
          child = internal::wrap_as_branch(std::move(child));
      }
      return ParallelAll<output_t<F>, Children>(std::move(range));
    } else {
      Children children;
      if constexpr (requires { children.reserve(std::size(range)); }) {
        children.reserve(static_cast<std::size_t>(std::size(range)));
      }
      for (auto&& future : range)
        children.push_back(internal::into_branch(F(static_cast<Given>(future))));
      return ParallelAll<output_t<F>, Children>(std::move(children));
    }
  }
}

}  // namespace rouse
