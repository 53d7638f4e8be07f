// run(async_main): the whole of most main functions.
//
//   rouse::Async<int> async_main() { ... co_return 0; }
//   int main() { return rouse::run(async_main); }
#pragma once

#include <exception>
#include <type_traits>
#include <utility>

#include "rouse/base/internal/invoke.hpp"
#include "rouse/runtime/runtime.hpp"

namespace rouse {

namespace internal {

/// One line to stderr about the exception that ended the program's main task.
ROUSE_API void report_failed_main(const std::exception_ptr& error) noexcept;

}  // namespace internal

/// Calls `async_main(args...)` on a Runtime with a worker for each CPU and runs it to completion.
/// Returns what it returns (0 if that is void): the exit status of the process. If an exception
/// leaves it, prints it to stderr and returns 1.
template <class Fn, class... Args>
int run(Fn&& async_main, Args&&... args) {
  constexpr bool is_main = requires {
    requires Future<std::invoke_result_t<Fn, Args...>>;
    requires std::is_void_v<output_t<std::invoke_result_t<Fn, Args...>>> ||
                 std::convertible_to<output_t<std::invoke_result_t<Fn, Args...>>, int>;
  };
  static_assert(is_main,
                "run needs a function that returns rouse::Async<int> or rouse::Async<void>: write "
                "rouse::run(async_main), without calling it");
  if constexpr (is_main) {
    try {
      Runtime runtime;
      using Output = output_t<std::invoke_result_t<Fn, Args...>>;
      if constexpr (std::is_void_v<Output>) {
        runtime.block_on(
            internal::invoke(std::forward<Fn>(async_main), std::forward<Args>(args)...), {});
        return 0;
      } else {
        return runtime.block_on(
            internal::invoke(std::forward<Fn>(async_main), std::forward<Args>(args)...), {});
      }
    } catch (...) {
      internal::report_failed_main(std::current_exception());
      return 1;
    }
  }
}

}  // namespace rouse
