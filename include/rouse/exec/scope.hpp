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
// Completes with the result of fn's future when that and all children ended. Errors: the first that
// fn or a child throws cancels fn and all children that have not ended, and is then thrown; so does
// std::bad_alloc, if there is no memory to run a child.
// Dropped midway, all children are cancelled; it waits for those that other threads are polling at
// that moment to return from that poll.
// Needs an executor, whose tasks the children become. What fn's own coroutine holds is gone when fn
// ends: children that outlive fn must not borrow that.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

#include "rouse/core/async.hpp"
#include "rouse/core/outcome.hpp"
#include "rouse/exec/branches.hpp"

namespace rouse {

class ScopeState;

class ROUSE_API Scope {
 public:
  /// Made by `scope`.
  Scope();
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;
  /// Cancels the children that are left.
  ~Scope();

  /// Runs a future as a child. By fn or by a child of this scope; once it is cancelled, does
  /// nothing.
  template <Future F>
  void spawn(F future) {
    start(run(*this, std::move(future)).into_frame());
  }
  /// Calls `fn(args...)` on the executor, which gives a future; function and arguments belong to
  /// the child.
  template <class Fn, class... Args>
    requires(!Future<Fn>)
  void spawn(Fn fn, Args... args) {
    static_assert(std::is_invocable_v<Fn&, Args&&...>,
                  "Scope::spawn needs a rouse::Future, or a function that returns one and can be "
                  "called with these arguments; std::ref(x) for a parameter `T&`");
    start(call(*this, std::move(fn), std::move(args)...).into_frame());
  }

  // --- For `scope`. ---

  /// Keeps the first error and ends the scope.
  void fail(std::exception_ptr error) noexcept;
  [[nodiscard]] std::exception_ptr error() const noexcept;
  /// Whether all children ended; if not, wakes when they have, or when one fails.
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
      auto future = std::invoke(fn, std::move(args)...);
      co_await future;
    } catch (...) {
      scope.fail(std::current_exception());
    }
  }
  void start(Frame* child);

  std::unique_ptr<ScopeState> state_;
};

/// Polls fn's future until it and the children ended, or something failed.
template <Future F>
class ScopeBody {
 public:
  using Output = void;
  ScopeBody(Scope& scope, F& body, Outcome<output_t<F>>& outcome) noexcept
      : scope_(&scope), body_(&body), outcome_(&outcome) {}

  Poll<void> poll(Context& cx) {
    if (!outcome_->is_set() && poll_into(*outcome_, *body_, cx) && outcome_->is_error()) {
      scope_->fail(outcome_->error());
    }
    const bool children_ended = scope_->poll_children(cx);
    // After that: a child that fails now wakes.
    if (scope_->error()) return Poll<void>::ready();
    if (!outcome_->is_set() || !children_ended) return pending;
    return Poll<void>::ready();
  }

 private:
  Scope* scope_;
  F* body_;
  Outcome<output_t<F>>* outcome_;
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

template <class Fn>
auto scope(Fn fn) -> Async<typename std::invoke_result_t<Fn&, Scope&>::Output> {
  using F = std::invoke_result_t<Fn&, Scope&>;
  Scope children;
  F body = std::invoke(fn, children);
  Outcome<output_t<F>> outcome;
  {
    const ScopeEnd end(children);  // before `body` goes
    ScopeBody<F> all(children, body, outcome);
    co_await all;
  }
  if (auto error = children.error()) std::rethrow_exception(error);
  co_return outcome.take();
}
/// A function that spawns and returns, as a coroutine.
template <class Fn>
Async<void> call_in_scope(Fn& fn, Scope& children) {
  std::invoke(fn, children);
  co_return;
}
template <class Fn>
  requires std::is_void_v<std::invoke_result_t<Fn&, Scope&>>
Async<void> scope(Fn fn) {
  auto body = [&fn](Scope& children) { return call_in_scope(fn, children); };
  co_await scope(std::ref(body));
}

}  // namespace rouse
