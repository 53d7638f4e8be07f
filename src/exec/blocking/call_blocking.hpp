// call_blocking: a blocking call whose outcome is a Result, as an AsyncResult: what files and name
// lookups are made of.
#pragma once

#include <new>
#include <system_error>
#include <type_traits>
#include <utility>

#include "rouse/core/async_result.hpp"
#include "rouse/exec/blocking_pool.hpp"

namespace rouse::internal {

/// What a call of `Fn` gives, which is a Result.
template <class Fn>
using blocking_value_t = typename std::invoke_result_t<Fn&>::value_type;

/// The outcome of a call that was started. Why it has none is an error, too: operation_canceled if
/// the runtime ended before it began, not_enough_memory, else why there was no thread for it.
template <class T>
Poll<Result<T>> poll_blocking(JoinHandle<Result<T>>& call, Context& cx) {
  try {
    return call.poll(cx);
  } catch (const JoinError&) {
    return Poll<Result<T>>::ready(Result<T>(std::errc::operation_canceled));
  } catch (const std::bad_alloc&) {
    return Poll<Result<T>>::ready(Result<T>(std::errc::not_enough_memory));
  } catch (const std::system_error& error) {
    return Poll<Result<T>>::ready(Result<T>(error.code()));
  }
}

/// A call that was started with spawn_mandatory.
template <class T>
struct MandatoryCall {
  JoinHandle<Result<T>> handle;
  bool is_taken;
};

/// As spawn_blocking; once it is taken, `fn` runs even if the runtime ends before it has begun, and
/// whoever waits for the runtime's end waits for that. Not taken: the handle has the error.
template <class Fn>
MandatoryCall<blocking_value_t<Fn>> spawn_mandatory(Fn fn) {
  BlockingPool& pool = current_blocking_pool();
  auto& task = Task<BlockingCall<Fn>>::make(pool.scheduler(), {}, std::move(fn));
  const bool is_taken = pool.submit_mandatory(task);
  return {JoinHandle<Result<blocking_value_t<Fn>>>(task), is_taken};
}

/// Runs `fn` on the blocking pool of the runtime that polls this first. Dropped midway, `fn` runs
/// all the same if it has begun or ever will, and its result is lost. Errors: also those of
/// poll_blocking.
template <class Fn>
AsyncResult<blocking_value_t<Fn>> call_blocking(Fn fn) {
  auto call = spawn_blocking(std::move(fn));
  std::errc why = std::errc::operation_canceled;
  try {
    co_return co_await std::move(call);
  } catch (const JoinError&) {
  } catch (const std::bad_alloc&) {
    why = std::errc::not_enough_memory;
  }
  co_return why;
}

}  // namespace rouse::internal
