// The chain: how nested coroutines are polled in O(1).
//
// An Async that somebody polls is the root of a chain: root, the child it awaits, that child's
// child, ... down to the innermost frame, which is suspended on a leaf: a future that is no
// coroutine. The root remembers the innermost frame; a poll polls the leaf and, if that is ready,
// resumes the innermost frame. How deep the chain is does not matter.
//
//   poll(root) --> [root] --awaits--> [child] --awaits--> [innermost] --awaits--> leaf
//                     '------------------- link --------------^
//
// Invariants:
//  - link_ of a root is the innermost frame (itself at first), null while the chain runs or its
//    leaf is polled. link_ of a child is its parent.
//  - A frame that runs has run_: the poll_chain of its root that is under way.
//    A suspended frame has awaited_ in the same place. In the innermost it is its Leaf (null before
//    the first resume, and at the co_yield of a generator), in every frame above it points, inside
//    the awaited Async, to the owner of the child's frame; that pointer is odd.
//  - A frame may run several children one after another that it awaits all at once: its branches.
//    It awaits a Fork, which says what runs when a branch ends. A branch's link_ is its parent.
#pragma once

#include <coroutine>
#include <cstdint>
#include <source_location>
#include <utility>

#include "rouse/base/assert.hpp"
#include "rouse/base/internal/attributes.hpp"
#include "rouse/base/shape.hpp"
#include "rouse/core/context.hpp"
#include "rouse/core/internal/outcome.hpp"

namespace rouse::internal {

struct Leaf;

/// What is to know about leaves of one type.
struct LeafType {
  /// True: it ended, and what came of it is kept in the leaf. Does not throw.
  bool (*poll)(Leaf&, Context&) noexcept;
  /// Of the future, to which there is a pointer at this offset; 0: of the leaf.
  const sight::Shape* shape;
  std::size_t future_offset;
};

/// The future at the end of a chain, seen without its type.
struct Leaf {
  Leaf() noexcept {}  // NOLINT(cppcoreguidelines-pro-type-member-init): set before it is awaited
  explicit Leaf(const LeafType& leaf_type) noexcept : type(&leaf_type) {}
  bool poll(Context& cx) noexcept { return type->poll(*this, cx); }
  const LeafType* type;
};

class Frame;
class ChainRun;
class TaskLocalNode;

/// What `await_suspend` returns: the coroutine to go on with where the compiler makes that a tail
/// call, as clang does; else (GCC 12) one that does nothing, and the loop in `ChainRun::resume`
/// goes on. See `symmetric_transfer` in base/internal/attributes.hpp.
using Transfer = std::coroutine_handle<>;

/// What a frame awaits that has branches: exec/internal/fork_region.hpp. As a leaf, what is left to
/// wait for when none of them runs in this chain.
struct Fork : Leaf {
  using EndedFn = Transfer (*)(Fork&, Frame& parent, ChainRun&) noexcept;
  explicit Fork(std::uint32_t size) noexcept : count(size) {}

  /// The caller destroys this child.
  void disown(const Frame& child) noexcept {
    for (std::uint32_t i = 0; i < count; ++i) {
      if (children[i] == &child) children[i] = nullptr;
    }
  }

  using TakeChildFn = Frame* (*)(Leaf&) noexcept;
  /// If the leaf is a fork: ends what else runs its children, and gives one that is suspended in a
  /// chain of its own, for the caller to destroy; null if there is none left. Set by those who
  /// have forks.
  ROUSE_API static TakeChildFn take_child;

  EndedFn branch_ended;  ///< goes on with the next branch, or with the parent, or waits
  Frame** children = nullptr;
  std::uint32_t count;
};

/// One run of a chain: lives on the stack of poll_chain.
class ChainRun {
 public:
  ChainRun(Context& cx, Frame& root) noexcept : cx_(cx), root_(root) {}
  ChainRun(const ChainRun&) = delete;
  ChainRun& operator=(const ChainRun&) = delete;

  Context& context() const noexcept { return cx_; }
  Frame& root() const noexcept { return root_; }

  /// Continues with `next`. Only this, `leave` and `resume` know how coroutines hand over.
  Transfer transfer(std::coroutine_handle<> next) noexcept {
    if constexpr (symmetric_transfer) return next;
    next_ = next;
    return std::noop_coroutine();
  }
  /// Returns to whoever polls the chain.
  static Transfer leave() noexcept { return std::noop_coroutine(); }
  /// Runs `frame` and what it transfers to, until the chain suspends or ends.
  void resume(std::coroutine_handle<> frame) {
    frame.resume();
    // Also where transfers are tail calls: the coroutine may be of another compiler than this.
    while (next_) [[unlikely]]
      std::exchange(next_, nullptr).resume();
  }

  using SettleFn = void (*)(ChainRun&, std::uint32_t mark) noexcept;
  /// `settle(run, mark)` is to be called if this run ends with the chain suspended. `locals` are
  /// the task locals of the thread (exec/task_local.hpp): the same wherever the chain hands over.
  void settle_with(SettleFn settle, std::uint32_t mark, const TaskLocalNode* locals) noexcept {
    forks_ = cx_.forks_place();
    settle_ = settle;
    mark_ = mark;
    locals_ = locals;
  }
  bool settles() const noexcept { return forks_ != nullptr; }
  /// Null if there is none, or before `settle_with`.
  ForkDeque* forks() const noexcept { return forks_ == nullptr ? nullptr : *forks_; }
  /// Null if there are none, or before `settle_with`.
  const TaskLocalNode* task_locals() const noexcept { return locals_; }
  void end_suspended() noexcept {
    if (settles()) [[unlikely]]
      settle_(*this, mark_);
  }

 private:
  Context& cx_;
  Frame& root_;
  std::coroutine_handle<> next_;
  ForkDeque* const* forks_ = nullptr;  // where the thread's is
  const TaskLocalNode* locals_ = nullptr;
  SettleFn settle_;     // set with forks_
  std::uint32_t mark_;  // likewise
};

/// The part of a coroutine frame that does not depend on its result type: base of every promise.
class ROUSE_API Frame {
 public:
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;

  bool is_done() const noexcept { return state_ == State::done; }
  bool is_fresh() const noexcept { return state_ == State::fresh; }
  /// Whether it is suspended on nothing.
  bool is_at_rest() const noexcept { return link_ == this && awaited_ == nullptr; }
  /// Whether it is suspended and polled on its own.
  bool is_suspended_root() const noexcept { return state_ == State::root && link_ != nullptr; }
  bool is_awaited() const noexcept { return state_ == State::child || state_ == State::branch; }
  bool borrows() const noexcept { return borrows_; }
  /// The await this frame is suspended at; before the first await, the coroutine's beginning.
  /// `function_name()` names the coroutine in any case.
  const std::source_location& where() const noexcept { return where_; }

  /// Polls the chain that begins here. True once the root is done.
  bool poll_chain(Context& cx) {
    ROUSE_ASSERT(state_ < State::child && link_ != nullptr,
                 "a coroutine was polled after it was ready or while another awaits it or runs it: "
                 "poll a future from one place, and not again once it gave its value",
                 where_.function_name(), last_await());
    state_ = State::root;
    Frame& inner = *std::exchange(link_, nullptr);
    ChainRun run(cx, *this);
    if (!inner.poll_leaf(run)) {
      link_ = &inner;
      return false;
    }
    run.resume(inner.handle());
    if (state_ == State::done) return true;
    ROUSE_ASSERT(
        link_ != nullptr,
        "a coroutine came back without having suspended or ended, itself or one it awaits. "
        "GCC 12 makes that of a coroutine that awaits in the condition of an `if` or "
        "`while` and has no variable in its outermost block: await into a variable first, "
        "`const auto go = co_await ...; if (go) ...`",
        where_.function_name(), last_await());
    run.end_suspended();
    return false;
  }

  /// Destroys this frame and, innermost first, those that it awaits.
  void destroy() noexcept;

  /// The same for a frame that is done.
  void destroy_ended() noexcept { handle().destroy(); }
  /// The same for the owner of a frame that is not: aborts if another awaits it.
  void drop_unfinished() noexcept;
  /// An Async must not be moved while another coroutine awaits it.
  [[noreturn]] void refuse_move() const noexcept;

  /// Whether this is the root of a chain that runs, or whose leaf is polled.
  bool is_running() const noexcept { return state_ == State::root && link_ == nullptr; }
  /// Of the root of a suspended chain: what its innermost frame waits for; null if for nothing.
  const Leaf* leaf() const noexcept {
    return is_suspended_root() ? static_cast<const Leaf*>(link_->awaited_) : nullptr;
  }

  /// Of the root of a suspended chain: the await at which its innermost frame is; else null.
  const std::source_location* stopped_at() const noexcept {
    return is_suspended_root() ? &link_->where_ : nullptr;
  }

  /// Called for each frame of the chain that begins here, innermost first. If the chain runs: only
  /// by the thread that runs it.
  template <class Fn>
  void visit_chain(Fn&& fn) const {
    if (state_ != State::root) return fn(*this);
    for (const Frame* frame = innermost(); frame != this; frame = frame->link_) fn(*frame);
    fn(*this);
  }

 protected:
  explicit Frame(bool borrows) noexcept : borrows_(borrows) {}
  ~Frame() = default;

  void set_where(const std::source_location& where) noexcept { where_ = where; }
  /// Of a coroutine that the exception that is handled leaves. Gives OutcomeState::error.
  OutcomeState keep_exception(std::exception_ptr& uninitialized) const noexcept;
  /// For a result that is an exception, or is not there.
  [[noreturn]] void rethrow_result(const std::exception_ptr& error) const;

 public:
  // --- For awaiters, while this frame runs. ---

  Context& context() const noexcept { return run_->context(); }

  /// Suspends this frame on a leaf that is pending; then control leaves the chain.
  void suspend_on(Leaf& leaf) noexcept {
    run_->root().link_ = this;
    awaited_ = &leaf;
  }

  /// Suspends this frame, a root, on nothing: the next poll continues. See core/async_stream.hpp.
  void suspend_until_polled() noexcept {
    link_ = this;
    awaited_ = nullptr;
  }

  /// Suspends this frame on the coroutine that `owner` owns, and continues there.
  Transfer suspend_on(Frame*& owner) {
    ChainRun& run = *run_;
    Frame& child = *owner;
    awaited_ = reinterpret_cast<char*>(&owner) + 1;
    if (child.state_ != State::fresh) [[unlikely]]
      return adopt_started(child, run);
    child.state_ = State::child;
    child.link_ = this;
    child.run_ = &run;
    return run.transfer(child.handle());
  }

  /// Ends this frame: continues in the parent, or leaves the chain.
  Transfer finish() noexcept {
    const State was = std::exchange(state_, State::done);
    if (was == State::child) [[likely]]
      return link_->go_on(*run_);
    if (was != State::branch) return ChainRun::leave();
    Fork& fork = link_->fork();
    return fork.branch_ended(fork, *link_, *run_);
  }

  // --- For who reads a copy of a frame whose chain runs (src/core/running_walk.hpp). ---

  bool is_child_of(const Frame& parent) const noexcept {
    return state_ == State::child && link_ == &parent;
  }
  /// The place that names the child that it awaits, in another frame's memory; null: none.
  const Frame* const* awaited_owner() const noexcept {
    return awaits_child() ? &child_owner() : nullptr;
  }

  /// The frame of a coroutine whose promise has this as its base, whatever its type. An
  /// `await_suspend` that asks for no more is not a template, made anew for each coroutine.
  static Frame& of(std::coroutine_handle<> frame) noexcept {
    return std::coroutine_handle<Frame>::from_address(frame.address()).promise();
  }

  // --- For forks. ---

  ChainRun& run() const noexcept { return *run_; }
  /// Suspends this frame on a fork.
  void begin_fork(Fork& fork) noexcept { awaited_ = static_cast<Leaf*>(&fork); }
  /// The fork that this suspended frame awaits.
  Fork& fork() const noexcept { return static_cast<Fork&>(*static_cast<Leaf*>(awaited_)); }
  /// Continues in this frame.
  Transfer go_on(ChainRun& run) noexcept {
    run_ = &run;
    return run.transfer(handle());
  }
  /// This frame waits for what its fork, as a leaf, waits for.
  Transfer wait_for_fork(ChainRun& run) noexcept {
    run.root().link_ = this;
    return ChainRun::leave();
  }

  /// Marks this fresh frame as a child of a fork of `parent`, which may be offered to others.
  void offer(Frame& parent) noexcept { link_ = &parent; }
  Frame& offered_by() const noexcept { return *link_; }
  /// It will be polled on its own.
  void withdraw_offer() noexcept { link_ = this; }
  /// Runs this fresh frame as a branch.
  Transfer enter_branch(Frame& parent, ChainRun& run) noexcept {
    state_ = State::branch;
    link_ = &parent;
    return go_on(run);
  }
  /// The same of one that was offered.
  Transfer enter_offered(ChainRun& run) noexcept {
    state_ = State::branch;
    return go_on(run);
  }
  /// Of the root of a suspended chain: calls `cut(fork)` for each fork in it, innermost first.
  /// True: the branch from there on becomes a chain of its own, for `let_go(fork, branch)` to see
  /// to, and this one ends at the fork.
  template <class Cut, class LetGo>
  void cut_branches(Cut&& cut, LetGo&& let_go) noexcept {
    for (Frame* frame = link_; frame != this;) {
      Frame* parent = frame->link_;
      if (frame->state_ == State::branch && cut(parent->fork())) {
        frame->state_ = State::root;
        frame->link_ = std::exchange(link_, parent);
        let_go(parent->fork(), *frame);
      }
      frame = parent;
    }
  }

 private:
  enum class State : std::uint8_t {
    fresh,   // neither polled nor awaited
    root,    // polled by somebody
    child,   // awaited by its parent frame
    branch,  // runs in its parent's chain, which awaits a fork
    done,    // at its end: the result is there
  };

  /// The promise is the first thing behind the frame's two function pointers whatever its type,
  /// because no promise is over-aligned (Async asserts it): so its base leads to the handle.
  std::coroutine_handle<> handle() noexcept {
    return std::coroutine_handle<Frame>::from_promise(*this);
  }

  bool awaits_child() const noexcept {
    return (reinterpret_cast<std::uintptr_t>(awaited_) & 1) != 0;
  }
  Frame*& child_owner() const noexcept {
    return *reinterpret_cast<Frame**>(static_cast<char*>(awaited_) - 1);
  }
  /// Of the chain that begins here. A branch that runs is not found: only who awaits its fork.
  const Frame* innermost() const noexcept {
    const Frame* frame = link_ != nullptr ? link_ : this;
    while (frame->awaits_child() && frame->child_owner() != nullptr) frame = frame->child_owner();
    return frame;
  }

  /// A coroutine that was polled on its own before it is awaited: its chain joins this one.
  Transfer adopt_started(Frame& child, ChainRun& run);
  /// Polls what this (innermost, suspended) frame waits for. True: it is ready to be resumed.
  bool poll_leaf(ChainRun& run) {
    Leaf* leaf = static_cast<Leaf*>(awaited_);
    if (leaf != nullptr && !leaf->poll(run.context())) return false;
    run_ = &run;
    return true;
  }

  void destroy_chain() noexcept;
  void destroy_fresh() noexcept;
  /// Where it is or was suspended, for the message that ends the program.
  const char* last_await() const noexcept;

  union {
    ChainRun* run_;
    void* awaited_ = nullptr;
  };
  Frame* link_ = this;
  std::source_location where_;
  State state_ = State::fresh;
  const bool borrows_;

 protected:
  OutcomeState result_state_ = OutcomeState::none;  // of AsyncPromiseBase: here there is room
};

/// The coroutine that the future is; null if it is none.
template <class F>
const Frame* frame_of(const F& future) noexcept {
  if constexpr (requires { future.frame(); }) return future.frame();
  return nullptr;
}

}  // namespace rouse::internal
