// A small program that needs the headers, the library, its threads, and coroutines that it and the
// library resume in turn: so it also shows whether a program and a library of two compilers agree.
#include <rouse/rouse.hpp>

rouse::Async<long> fib(int n) {
  if (n < 2) co_return n;
  auto [a, b] = co_await rouse::parallel(fib(n - 1), fib(n - 2));
  co_return a + b;
}

rouse::Async<int> async_main() {
  long sum = 0;
  for (int i = 0; i < 100; ++i) sum += co_await fib(12);
  co_return sum == 14'400 ? 0 : 1;
}

int main() { return rouse::run(async_main); }
