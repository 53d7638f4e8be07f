// scope(fn): structured concurrency. `fn(scope)` may spawn children that borrow what lives outside
// of the `co_await scope(...)`: all of them end before the await does.
//
//   std::vector<Page> pages;
//   auto crawl = [&](Scope& s) -> Async<void> {
//     while (auto url = co_await next_url()) s.spawn(fetch(*url, pages));
//   };
//   co_await scope(crawl);
//
// The function has a name because GCC 12 destroys a lambda twice that is written inside a co_await.
//
// Completes with the result of fn's future when that and all children have ended. Needs an
// executor: the children become its tasks. What fn's own coroutine holds is destroyed when fn ends:
// children that outlive fn must not borrow that.
// Cancel safety: dropping it cancels all children, and waits until other threads have returned from
// polling one of them.
// Errors: the first exception of fn or a child cancels fn and all children that have not ended, and
// is then thrown; so does std::bad_alloc, if there is no memory to run a child.
#pragma once

#include <exception>
#include <type_traits>
#include <utility>

#include "rouse/base/internal/box.hpp"
#include "rouse/base/internal/invoke.hpp"
#include "rouse/core/async.hpp"
#include "rouse/core/internal/outcome.hpp"
#include "rouse/exec/internal/branches.hpp"

namespace rouse::internal {
class ScopeState;
}  // namespace rouse::internal

namespace rouse {

class ROUSE_API Scope {
 public:
  /// Made by `scope`.
  Scope();
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;
  /// Cancels the children that are left.
  ~Scope();

  /// Runs a future as a child. Called by fn or by a child of this scope; does nothing once the
  /// scope is cancelled.
  template <Future F>
  void spawn(F future) {
    start(run(*this, std::move(future)).into_frame());
  }
  /// Calls `fn(args...)` on the executor, which returns a future; the child owns function and
  /// arguments.
  template <class Fn, class... Args>
    requires(!Future<Fn>)
  void spawn(Fn fn, Args... args) {
    static_assert(std::is_invocable_v<Fn&, Args&&...>,
                  "Scope::spawn needs a rouse::Future, or a function that returns one and can be "
                  "called with these arguments; std::ref(x) for a parameter `T&`");
    start(call(*this, std::move(fn), std::move(args)...).into_frame());
  }

  // --- For `scope`. ---

  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(Scope, "children of the scope", scope, &Scope::state_)
  /// Stores the first error and ends the scope.
  void fail(std::exception_ptr error) noexcept;
  /// The first error, if there was one.
  [[nodiscard]] std::exception_ptr error() const noexcept;
  /// Whether all children have ended; if not, wakes when they have, or when one fails.
  bool poll_children(const Context& cx);
  /// Cancels all children: afterwards none is left.
  void end() noexcept;

 private:
  template <class F>
  static Async<void> run(Scope& scope, F future) {
    try {
      co_await future;
    } catch (...) {
      scope.fail(std::current_exception());
    }
  }
  template <class Fn, class... Args>
  static Async<void> call(Scope& scope, Fn fn, Args... args) {
    try {
      auto future = internal::invoke(fn, std::move(args)...);
      co_await future;
    } catch (...) {
      scope.fail(std::current_exception());
    }
  }
  void start(internal::Frame* child);

  internal::Box<internal::ScopeState> state_;
};

namespace internal {

/// Polls fn's future until it and the children ended, or something failed.
template <Future F>
class ScopeBody {
 public:
  using Output = void;
  ScopeBody(Scope& scope, F& body, internal::Outcome<output_t<F>>& outcome) noexcept
      : scope_(&scope), body_(&body), outcome_(&outcome) {}

  ROUSE_SHAPE(ScopeBody, "scope", all_of, &ScopeBody::body_, &ScopeBody::scope_)
  Poll<void> poll(Context& cx) {
    if (body_ != nullptr && internal::poll_into(*outcome_, *body_, cx)) {
      body_ = nullptr;
      if (outcome_->is_error()) scope_->fail(outcome_->error());
    }
    const bool children_ended = scope_->poll_children(cx);
    // After that, a child that fails wakes us.
    if (scope_->error()) return Poll<void>::ready();
    if (body_ != nullptr || !children_ended) return pending;
    return Poll<void>::ready();
  }

 private:
  Scope* scope_;
  F* body_;  // null once it has ended
  internal::Outcome<output_t<F>>* outcome_;
};

/// Ends the scope when it goes.
class ScopeEnd {
 public:
  explicit ScopeEnd(Scope& scope) noexcept : scope_(scope) {}
  ScopeEnd(const ScopeEnd&) = delete;
  ScopeEnd& operator=(const ScopeEnd&) = delete;
  ~ScopeEnd() { scope_.end(); }

 private:
  Scope& scope_;
};

}  // namespace internal

template <class Fn>
auto scope(Fn fn) -> Async<typename std::invoke_result_t<Fn&, Scope&>::Output> {
  using F = std::invoke_result_t<Fn&, Scope&>;
  Scope children;
  F body = internal::invoke(fn, children);
  internal::Outcome<output_t<F>> outcome;
  {
    const internal::ScopeEnd end(children);  // before `body` goes
    internal::ScopeBody<F> all(children, body, outcome);
    co_await all;
  }
  if (auto error = children.error()) std::rethrow_exception(error);
  co_return outcome.take();
}
namespace internal {

/// A function that spawns and returns, as a coroutine.
template <class Fn>
Async<void> call_in_scope(Fn& fn, Scope& children) {
  internal::invoke(fn, children);
  co_return;
}

}  // namespace internal
template <class Fn>
  requires std::is_void_v<std::invoke_result_t<Fn&, Scope&>>
Async<void> scope(Fn fn) {
  auto body = [&fn](Scope& children) { return internal::call_in_scope(fn, children); };
  co_await scope(body);
}

}  // namespace rouse
