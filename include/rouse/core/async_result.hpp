// Attempt<T>: what an async function returns that may fail with an error code: a coroutine like
// Async<Result<T>>, awaited as every such operation is:
//
//   rouse::Attempt<Config> load(std::string path) {
//     auto text = co_await rouse::fs::read_to_string(path);     // its error is this one's
//     if (text.empty()) co_return std::errc::invalid_argument;
//     co_return parse(text);
//   }
//   Config c = co_await load("app.conf");                       // or throws std::system_error
//   Result<Config> r = co_await load("app.conf").result();      // never throws one
//
// A std::system_error that leaves the coroutine becomes its error; other exceptions pass through.
#pragma once

#include <coroutine>
#include <system_error>
#include <utility>

#include "rouse/base/attributes.hpp"
#include "rouse/base/result.hpp"
#include "rouse/core/async.hpp"
#include "rouse/core/fallible.hpp"

namespace rouse {

[[gnu::used]] inline const char* const linked_with_same_compiler = &same_compiler;

template <class T = void>
class [[nodiscard("a future does nothing until it is polled: co_await it or spawn it")]] Attempt
    : public Fallible<Attempt<T>, T> {
 public:
  Attempt(Async<Result<T>> steps) noexcept : steps_(std::move(steps)) {}

  Poll<Result<T>> poll_result(Context& cx) {
    try {
      return steps_.poll(cx);
    } catch (const std::system_error& error) {
      return Poll<Result<T>>::ready(Result<T>(error.code()));
    }
  }
  [[nodiscard]] bool borrows() const noexcept { return future_borrows(steps_); }

 private:
  Async<Result<T>> steps_;
};

}  // namespace rouse

template <class T, class... Parameters>
struct std::coroutine_traits<rouse::Attempt<T>, Parameters...>
    : std::coroutine_traits<rouse::Async<rouse::Result<T>>, Parameters...> {};
