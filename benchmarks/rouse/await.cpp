// What an await costs: of a child coroutine, of a future that is ready, of a generator's next
// value; and one poll of a coroutine that stays suspended. Without a runtime.
#include "rouse/core/async.hpp"
#include "rouse/core/async_stream.hpp"

#include "rows.hpp"
#include "support/measure.hpp"

namespace bench {
namespace {

using namespace rouse;

class Ready {
 public:
  using Output = long;
  explicit Ready(long value) noexcept : value_(value) {}
  Poll<long> poll(Context&) { return Poll<long>::ready(value_); }

 private:
  long value_;
};

/// Pending once, then ready; wakes nobody: the row polls anyway.
class PendingOnce {
 public:
  using Output = void;
  PendingOnce() noexcept {}
  Poll<void> poll(Context&) {
    if (polled_) return Poll<void>::ready();
    polled_ = true;
    return pending;
  }

 private:
  bool polled_ = false;
};

[[gnu::noinline]] Async<long> child(long x) { co_return x + 1; }

Async<long> await_children(long n) {
  long sum = 0;
  for (long i = 0; i < n; ++i) sum += co_await child(i);
  co_return sum;
}
Async<long> await_ready_futures(long n) {
  long sum = 0;
  for (long i = 0; i < n; ++i) {
    sum += co_await Ready(i);
    keep(sum);
  }
  co_return sum;
}
[[gnu::noinline]] AsyncStream<long> count_to(long n) {
  for (long i = 0; i < n; ++i) co_yield i;
}
Async<long> read_generator(long n) {
  long sum = 0;
  auto numbers = count_to(n);
  while (const auto number = co_await numbers.next()) sum += *number;
  co_return sum;
}
Async<void> suspend_for_ever() {
  for (;;) co_await PendingOnce();
}
/// However deep coroutines are nested, only the innermost is polled.
Async<void> nest(int depth) {
  if (depth == 1) {
    co_await suspend_for_ever();
  } else {
    co_await nest(depth - 1);
  }
}

Values poll_to_end(long n, Async<long> (*make)(long)) {
  return {mean_ns(n, [&] {
    Context cx(Waker::noop());
    auto future = make(n);
    keep(future.poll(cx).value());
  })};
}

}  // namespace

Values child_await(unsigned, long n) { return poll_to_end(n, await_children); }
Values ready_await(unsigned, long n) { return poll_to_end(n, await_ready_futures); }
Values generator_next(unsigned, long n) { return poll_to_end(n, read_generator); }

Values pending_poll(unsigned, long n) {
  Context cx(Waker::noop());
  auto future = nest(1000);
  return {mean_ns(n, [&] {
    for (long i = 0; i < n; ++i) keep(future.poll(cx).is_pending());
  })};
}

}  // namespace bench
