// Mistakes that compile, each with the check that finds it.
#include <cstddef>
#include <mutex>
#include <string>
#include <utility>

#include <rouse/rouse.hpp>

std::mutex guarded;

// avoid-reference-coroutine-parameters
rouse::Async<std::size_t> reference_parameter(const std::string& text) {
  co_await rouse::yield_now();
  co_return text.size();
}

// avoid-capturing-lambda-coroutines
rouse::Async<void> capturing_lambda(int n) {
  auto later = [n]() -> rouse::Async<int> {
    co_await rouse::yield_now();
    co_return n;
  };
  co_await rouse::spawn(later());
}

// coroutine-hostile-raii
rouse::Async<void> lock_across_await() {
  const std::lock_guard lock(guarded);
  co_await rouse::yield_now();
}

// use-after-move
rouse::Async<std::size_t> moved_from(rouse::sync::Sender<std::string> tx, std::string text) {
  (void)co_await tx.send(std::move(text));
  co_return text.size();
}
