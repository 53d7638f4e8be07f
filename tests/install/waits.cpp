// A program whose only task waits, for rouse-debug and gdb to look at.
#include <chrono>
#include <cstdio>

#include <rouse/rouse.hpp>

rouse::Async<void> wait_long() { co_await rouse::sleep(std::chrono::hours(1)); }

int main() {
  const rouse::Runtime runtime;
  auto task = runtime.spawn(wait_long());
  std::puts("ready");
  std::fflush(stdout);
  rouse::block_on(std::move(task));
}
