// parallel_all(range): runs all futures of a range, on several threads where there are some, and is
// ready with the vector of their outputs, in the order of the range, when the last one is. For void
// futures its output is void. All that is said of `parallel` (exec/parallel.hpp) holds.
#pragma once

#include <concepts>
#include <cstdint>
#include <iterator>
#include <span>  // std::ranges::enable_view, without the cost of <ranges>
#include <type_traits>
#include <utility>
#include <vector>

#include "rouse/exec/branches.hpp"

namespace rouse {

/// The frames of children, destroyed with it.
class BranchList {
 public:
  BranchList() noexcept = default;
  BranchList(BranchList&& other) noexcept = default;
  BranchList& operator=(BranchList&&) = delete;
  ~BranchList() {
    while (!frames_.empty()) {
      drop_branch(frames_.back());
      frames_.pop_back();
    }
  }

  void reserve(std::size_t size) { frames_.reserve(size); }
  void add(Frame* frame) {
    try {
      frames_.push_back(frame);
    } catch (...) {
      drop_branch(frame);
      throw;
    }
  }
  Frame** data() noexcept { return frames_.data(); }
  std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(frames_.size()); }
  Frame& operator[](std::size_t i) const noexcept { return *frames_[i]; }
  bool borrows() const noexcept {
    for (const Frame* frame : frames_) {
      if (frame != nullptr && frame->borrows()) return true;
    }
    return false;
  }

 private:
  std::vector<Frame*> frames_;
};

template <class T>
class [[nodiscard(
    "a future does nothing until it is polled: co_await it or spawn it")]] ParallelAll {
 public:
  using Output = std::conditional_t<std::is_void_v<T>, void, std::vector<stored_t<T>>>;

  /// Of coroutines that were not begun, all AsyncPromise<T>.
  explicit ParallelAll(BranchList children) noexcept
      : children_(std::move(children)), region_(children_.size()) {}
  ParallelAll(ParallelAll&& other) noexcept
      : children_(std::move(other.children_)), region_(children_.size()) {
    refuse_to_move(other.region_);
  }
  ~ParallelAll() { region_.end(); }

  Poll<Output> poll(Context& cx) {
    if (!is_empty() && !region_.poll_alone(children_.data(), cx)) return pending;
    if constexpr (std::is_void_v<T>) {
      take();
      return Poll<void>::ready();
    } else {
      return Poll<Output>::ready(take());
    }
  }

  [[nodiscard]] bool borrows() const noexcept { return children_.borrows(); }

  // --- For `co_await`. ---

  BranchAwaiter<ParallelAll> branch_awaiter() noexcept { return BranchAwaiter<ParallelAll>(*this); }
  bool is_empty() const noexcept { return children_.size() == 0; }
  Transfer start(Frame& parent) noexcept {
    ROUSE_ASSERT(!region_.has_started(), "a parallel_all(...) was awaited again: await it once");
    return region_.start_many(parent, children_.data());
  }
  Output take() {
    region_.throw_if_lost();
    if constexpr (std::is_void_v<T>) {
      for (std::uint32_t i = 0; i < children_.size(); ++i) take_result<T>(children_[i]);
    } else {
      Output outputs;
      outputs.reserve(children_.size());
      for (std::uint32_t i = 0; i < children_.size(); ++i) {
        outputs.push_back(take_result<T>(children_[i]));
      }
      return outputs;
    }
  }

 private:
  BranchList children_;
  ForkRegion region_;
};

/// A container given as an rvalue is moved from; the elements of anything else are copied, or moved
/// if they are made on the fly.
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
    BranchList children;
    if constexpr (requires { std::size(range); }) {
      children.reserve(static_cast<std::size_t>(std::size(range)));
    }
    for (auto&& future : range)
      children.add(into_branch(F(static_cast<Given>(future))).into_frame());
    return ParallelAll<output_t<F>>(std::move(children));
  }
}

}  // namespace rouse
