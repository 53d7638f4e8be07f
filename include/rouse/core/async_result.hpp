// AsyncResult<T>: what an async function returns that may fail with an error code: a coroutine like
// Async<Result<T>>, awaited as every such operation is:
//
//   rouse::AsyncResult<Config> load(std::string path) {
//     auto text = co_await rouse::fs::read_to_string(path);     // its error is this one's
//     if (text.empty()) co_return std::errc::invalid_argument;
//     co_return parse(text);
//   }
//   Config c = co_await load("app.conf");                       // or throws std::system_error
//   Result<Config> r = co_await load("app.conf").result();      // never throws one
//
// A std::system_error that leaves the coroutine becomes its error: of result(), its code; who
// awaits without gets the exception as it is. Other exceptions pass through.
#pragma once

#include <coroutine>
#include <system_error>
#include <utility>

#include "rouse/base/internal/attributes.hpp"
#include "rouse/base/result.hpp"
#include "rouse/core/async.hpp"
#include "rouse/core/result_future.hpp"

namespace rouse {

namespace internal {

[[gnu::used]] inline const char* const linked_with_same_compiler = &internal::same_compiler;

}  // namespace internal

template <class T = void>
class [[gnu::warn_unused]] [[nodiscard(
    "a future does nothing until it is polled: co_await it or spawn it")]] AsyncResult
    : public ResultFuture<AsyncResult<T>, T> {
 public:
  AsyncResult(Async<Result<T>> steps) noexcept : steps_(std::move(steps)) {}

  Poll<Result<T>> poll_result(Context& cx) try {
    return steps_.poll(cx);
  } catch (const std::system_error& error) {
    return Poll<Result<T>>::ready(Result<T>(error.code()));
  }
  /// A std::system_error that leaves the coroutine is thrown as it is: see ResultFuture.
  Poll<Result<T>> poll_or_throw(Context& cx) { return steps_.poll(cx); }
  [[nodiscard]] bool borrows() const noexcept { return internal::future_borrows(steps_); }
  [[nodiscard]] const internal::Frame* frame() const noexcept { return steps_.frame(); }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(AsyncResult, nullptr, one, &AsyncResult::steps_)

 private:
  Async<Result<T>> steps_;
};

}  // namespace rouse

template <class T, class... Parameters>
struct std::coroutine_traits<rouse::AsyncResult<T>, Parameters...>
    : std::coroutine_traits<rouse::Async<rouse::Result<T>>, Parameters...> {};
