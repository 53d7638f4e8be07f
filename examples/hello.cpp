// The first program: two tasks, awaited together.
// [hello]
#include <cstdio>
#include <string>
#include <utility>

#include <rouse/rouse.hpp>

rouse::Async<std::string> greet(std::string name) {
  co_await rouse::yield_now();  // others may run here
  co_return "hello, " + name;
}

rouse::Async<void> async_main() {
  auto ann = rouse::spawn(greet, "Ann");  // a task, which owns its argument
  auto bob = rouse::spawn(greet, "Bob");  // and another, on this or another thread
  auto [first, second] = co_await rouse::join(std::move(ann), std::move(bob));
  std::printf("%s\n%s\n", first.c_str(), second.c_str());
}

int main() { return rouse::run(async_main); }  // on a thread for each CPU
// [/hello]
