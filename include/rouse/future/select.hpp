// select(f...): runs the futures until the first of them is ready. The output is a std::variant
// whose index says which one it was; Unit stands for a void output, a pointer for a reference.
//
// select(on(f, fn)...): calls the handler of the first with its output (with nothing if it is
// void). A handler gives a value, a future, which then runs as a part of the select, or nothing;
// all of them the same. That is the output.
//
//   co_await rouse::select(
//       rouse::on(lines.next_line(), [&](std::optional<std::string> line) { ... }),
//       rouse::on(inbox.recv(), [&](std::optional<Post> post) -> rouse::Async<> { ... }));
//
// It is fair: each poll begins at a branch chosen at random, so none starves if others are always
// ready. select_biased polls in the order of the arguments: the first one that is ready wins.
//
// All futures are destroyed before the value is returned or the handler called; handlers live until
// the end. If the first to complete threw, select throws that. No allocation. With GCC 12 name a
// handler that captures by value before the co_await: it destroys a lambda in there twice.
// Cancel safety: dropping it drops all futures, or the handler's. The losers are dropped midway:
// pass only futures that are cancel safe, or whose loss does not matter; by_ref(f) keeps one.
#pragma once

#include <cstddef>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include "rouse/base/internal/maybe.hpp"
#include "rouse/base/internal/pack.hpp"
#include "rouse/base/internal/random.hpp"
#include "rouse/core/future.hpp"
#include "rouse/core/internal/borrow.hpp"
#include "rouse/core/internal/movable_until_polled.hpp"
#include "rouse/future/internal/child.hpp"
#include "rouse/future/internal/continuation.hpp"

namespace rouse {

/// Where each poll of a select begins: anywhere, or at the first argument.
enum class SelectOrder : bool { fair, biased };

/// A branch of select with its handler. What `on` gives.
template <Future F, class Fn>
class On {
 public:
  using Branch = F;
  using Handler = Fn;

  On(F future, Fn handler) : future_(std::move(future)), handler_(std::move(handler)) {}

  /// The branch; to be taken once.
  F&& future() && noexcept { return std::move(future_); }
  /// The handler; to be taken once.
  Fn&& handler() && noexcept { return std::move(handler_); }

 private:
  F future_;
  Fn handler_;
};

namespace internal {

template <class T>
inline constexpr bool is_on = false;
template <class F, class Fn>
inline constexpr bool is_on<On<F, Fn>> = true;

/// The futures of a select, until one is ready.
template <SelectOrder order, Future... Fs>
class Racing {
 public:
  explicit Racing(Fs... futures) : futures_(std::in_place, std::in_place, std::move(futures)...) {}

  bool is_over() const noexcept { return !futures_.has_value(); }

  /// True if one is ready: then all are gone, and `won(index, outcome)` was called.
  template <class Won>
  bool poll(Context& cx, Won&& won) {
    return poll_each(cx, won, std::index_sequence_for<Fs...>());
  }

  bool borrows() const noexcept {
    return futures_ &&
           (*futures_).any_of([](const auto& future) { return future_borrows(future); });
  }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(Racing, nullptr, one, &Racing::futures_)

 private:
  template <class Won, std::size_t... Index>
  bool poll_each(Context& cx, Won& won, std::index_sequence<Index...>) {
    constexpr unsigned count = sizeof...(Fs);
    if constexpr (order == SelectOrder::biased || count == 1) {
      return (poll_one<Index>(cx, won) || ...);
    } else {
      unsigned next = random_below(count);
      for (unsigned polled = 0; polled != count; ++polled) {
        if (((next == Index && poll_one<Index>(cx, won)) || ...)) return true;
        next = next + 1 == count ? 0 : next + 1;
      }
      return false;
    }
  }

  template <std::size_t Index, class Won>
  bool poll_one(Context& cx, Won& won) {
    auto& future = (*futures_).template get<Index>();
    Outcome<output_t<std::remove_reference_t<decltype(future)>>> outcome;
    if (!poll_into(outcome, future, cx)) return false;
    futures_.reset();
    won(std::integral_constant<std::size_t, Index>(), outcome);
    return true;
  }

  Maybe<Pack<Fs...>> futures_;
};

/// What a handler gives in the end: the output of its future, if it is one. T: what it is given.
template <class R, class T>
struct Handled {
  using Type = R;
  using Running = Unit;
};
template <Future R, class T>
struct Handled<R, T> {
  using Type = output_t<R>;
  using Running = Continued<R, T>;
};
template <class Branch, class T = output_t<typename Branch::Branch>>
using Handling = Handled<continuation_result_t<typename Branch::Handler&, T>, T>;
template <class Branch>
using handled_t = typename Handling<Branch>::Type;

}  // namespace internal

template <SelectOrder order, Future... Fs>
class [[nodiscard("a future does nothing until it is polled: co_await it or spawn it")]] Select {
 public:
  using Output = std::variant<stored_t<output_t<Fs>>...>;
  static constexpr bool polled_out_of_line = true;

  explicit Select(Fs... futures) : racing_(std::move(futures)...) {}

  Poll<Output> poll(Context& cx) {
    ROUSE_ASSERT(!racing_.is_over(), "select(...) was polled again after it was ready");
    move_check_.set_polled();
    std::optional<Output> first;
    racing_.poll(cx, [&first](auto index, auto& outcome) {
      if (outcome.is_error()) std::rethrow_exception(outcome.error());
      first.emplace(std::in_place_index<index>, std::move(outcome.stored()));
    });
    if (!first) return pending;
    return Poll<Output>::ready(*std::move(first));
  }

  /// Whether one of the futures borrows: see Async::borrows.
  [[nodiscard]] bool borrows() const noexcept { return racing_.borrows(); }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(Select, "select", any_of, &Select::racing_)

 private:
  internal::Racing<order, Fs...> racing_;
  internal::MovableUntilPolled move_check_;
};

/// The future of select(on(f, fn)...).
template <SelectOrder order, class First, class... Others>
class [[nodiscard("a future does nothing until it is polled: co_await it or spawn it")]] SelectOn {
 public:
  using Output = internal::handled_t<First>;

  explicit SelectOn(First first, Others... others)
      : racing_(std::move(first).future(), std::move(others).future()...),
        handlers_(std::move(first).handler(), std::move(others).handler()...) {}

  Poll<Output> poll(Context& cx) {
    ROUSE_ASSERT(
        !racing_.is_over() || (running_.index() != 0 && !running_.valueless_by_exception()),
        "select(...) was polled again after it was ready");
    move_check_.set_polled();
    internal::Outcome<Output> outcome;
    if (!racing_.is_over()) {
      const auto handle = [&](auto index, auto& won) { call_handler<index>(won, outcome); };
      if (!racing_.poll(cx, handle)) return pending;
    }
    if (!outcome.is_set() && !poll_handler(outcome, cx, std::index_sequence_for<Others...>())) {
      return pending;
    }
    running_.template emplace<0>();
    return internal::take_ready(outcome);
  }

  /// Whether a future that runs borrows: see Async::borrows. The handlers are not checked.
  [[nodiscard]] bool borrows() const noexcept {
    return racing_.borrows() || handler_borrows(std::index_sequence_for<Others...>());
  }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(SelectOn, "select", any_of, &SelectOn::racing_)

 private:
  /// A future that the handler gives is put into `running_`; else `outcome` is set.
  template <std::size_t Index, class T>
  void call_handler(internal::Outcome<T>& won, internal::Outcome<Output>& outcome) {
    auto& handler = std::get<Index>(handlers_);
    using Given = internal::continuation_result_t<decltype(handler), T>;
    if constexpr (Future<Given>) {
      running_.template emplace<Index + 1>(std::move(won), handler);
    } else if constexpr (std::is_void_v<Given>) {
      internal::call_with(handler, won);
      outcome.set_value();
    } else {
      outcome.set_value(internal::call_with(handler, won));
    }
  }

  template <std::size_t... Index>
  bool handler_borrows(std::index_sequence<Index...>) const noexcept {
    return (running_borrows<0>() || ... || running_borrows<Index + 1>());
  }
  template <std::size_t Index>
  bool running_borrows() const noexcept {
    const auto* running = std::get_if<Index + 1>(&running_);
    if constexpr (!std::is_same_v<decltype(running), const Unit*>) {
      return running != nullptr && internal::future_borrows(running->future);
    }
    return false;
  }

  template <std::size_t... Index>
  bool poll_handler(internal::Outcome<Output>& outcome, Context& cx,
                    std::index_sequence<Index...>) {
    return (poll_running<0>(outcome, cx) || ... || poll_running<Index + 1>(outcome, cx));
  }
  template <std::size_t Index>
  bool poll_running(internal::Outcome<Output>& outcome, Context& cx) {
    auto* running = std::get_if<Index + 1>(&running_);
    if constexpr (!std::is_same_v<decltype(running), Unit*>) {
      return running != nullptr && internal::poll_into(outcome, running->future, cx);
    }
    return false;
  }

  internal::Racing<order, typename First::Branch, typename Others::Branch...> racing_;
  std::tuple<typename First::Handler, typename Others::Handler...> handlers_;
  // The future of the handler that was called; Unit: there is none.
  std::variant<Unit, typename internal::Handling<First>::Running,
               typename internal::Handling<Others>::Running...>
      running_;
  internal::MovableUntilPolled move_check_;
};

/// A branch of select, and what to do with its output if it is the first.
template <class F, class Fn>
auto on(F&& future, Fn&& handler) {
  using Kept = std::remove_cvref_t<F>;
  static_assert(Future<Kept>,
                "on needs a future: did you pass a function instead of calling it? write "
                "on(f(), fn)");
  static_assert(!Future<Kept> || internal::Keepable<F>,
                "on keeps its future by value and this one can't be copied: write "
                "on(std::move(f), fn), or on(by_ref(f), fn) if it is to outlive the select");
  if constexpr (Future<Kept> && internal::Keepable<F>) {
    constexpr bool fits = internal::takes_output<std::decay_t<Fn>&, output_t<Kept>>;
    static_assert(fits,
                  "on(f, fn): fn can't be called with the output of f (with nothing if it is "
                  "void)");
    if constexpr (fits) {
      return On<Kept, std::decay_t<Fn>>(std::forward<F>(future), std::forward<Fn>(handler));
    }
  }
}

namespace internal {

template <SelectOrder order, class First, class... Others>
auto select_on(First&& first, Others&&... others) {
  constexpr bool have_handlers =
      is_on<std::remove_cvref_t<First>> && (is_on<std::remove_cvref_t<Others>> && ...);
  static_assert(have_handlers, "select: give a handler to each branch, or to none: on(f, fn)");
  if constexpr (have_handlers) {
    constexpr bool agree = (std::is_same_v<handled_t<std::remove_cvref_t<First>>,
                                           handled_t<std::remove_cvref_t<Others>>> &&
                            ...);
    static_assert(agree,
                  "select(on(f, fn)...): all handlers must give the same type, or all nothing");
    if constexpr (agree) {
      return SelectOn<order, std::remove_cvref_t<First>, std::remove_cvref_t<Others>...>(
          std::forward<First>(first), std::forward<Others>(others)...);
    }
  }
}

template <SelectOrder order, class... Fs>
auto select_in(Fs&&... futures) {
  static_assert(sizeof...(Fs) > 0, "select() of nothing never ends: use pending_forever()");
  if constexpr ((is_on<std::remove_cvref_t<Fs>> || ...)) {
    return select_on<order>(std::forward<Fs>(futures)...);
  } else {
    constexpr bool are_futures = (Future<std::remove_cvref_t<Fs>> && ...);
    static_assert(are_futures,
                  "select needs futures: did you pass a function instead of calling it? write "
                  "select(f(), g())");
    constexpr bool can_keep = (Keepable<Fs> && ...);
    static_assert(!are_futures || can_keep,
                  "select keeps its futures by value and one of these can't be copied: write "
                  "select(std::move(f), std::move(g)), or select(by_ref(f), std::move(g)) if f is "
                  "to outlive the select");
    if constexpr (sizeof...(Fs) > 0 && are_futures && can_keep) {
      return Select<order, std::remove_cvref_t<Fs>...>(std::forward<Fs>(futures)...);
    }
  }
}

}  // namespace internal

template <class... Fs>
auto select(Fs&&... futures) {
  return internal::select_in<SelectOrder::fair>(std::forward<Fs>(futures)...);
}

/// The first argument that is ready wins. Put what must not starve (a cancellation, a deadline)
/// first, and what is always ready last.
template <class... Fs>
auto select_biased(Fs&&... futures) {
  return internal::select_in<SelectOrder::biased>(std::forward<Fs>(futures)...);
}

}  // namespace rouse
