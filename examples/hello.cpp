// The first program: two tasks, awaited together. What README.md shows.
// [hello]
#include <cstdio>
#include <string>
#include <utility>

#include <rouse/rouse.hpp>

rouse::Async<std::string> greet(std::string name) {
  co_await rouse::yield_now();  // others may run here
  co_return "hello, " + name;
}

rouse::Async<void> start() {
  auto ann = rouse::spawn(greet, "Ann");  // a task, which owns its argument
  auto bob = rouse::spawn(greet, "Bob");
  auto [first, second] = co_await rouse::join(std::move(ann), std::move(bob));
  std::printf("%s\n%s\n", first.c_str(), second.c_str());
}

int main() {
  rouse::LocalExecutor executor;  // one thread
  executor.run_until(start());
}
// [/hello]
