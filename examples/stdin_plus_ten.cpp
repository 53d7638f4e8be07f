// Waits for a line of standard input without blocking the thread, and prints the number in it plus
// ten. Meanwhile the runtime's reactor waits in epoll, and wakes the task when there is something
// to read. After "I/O multiplexing" of the texts that rouse began from.
#include <cstdio>
#include <sstream>
#include <stdexcept>
#include <string>

#include <rouse/rouse.hpp>

namespace {

int to_number(const std::string& line) {
  std::istringstream words(line);
  std::string more;
  int number = 0;
  if (!(words >> number) || words >> more) throw std::runtime_error("not a number: '" + line + "'");
  return number;
}

// [stdin]
rouse::Async<const char*> plus_ten() {
  rouse::io::BufReader in(rouse::io::stdin_());
  rouse::io::Lines lines = in.lines();
  const auto line = co_await lines.next_line();  // nothing at the end of the input
  const int number = to_number(line.value_or(""));
  std::printf("stdin future result: %ld\n", long{number} + 10);
  co_return "stdin future done";
}

rouse::Async<void> async_main() {
  auto task = rouse::spawn(plus_ten);
  std::puts(co_await task);
  std::puts("Task stdin task completed!");
}
// [/stdin]

}  // namespace

int main() try {
  rouse::Runtime rt;
  rt.block_on(async_main());
} catch (const std::exception& error) {
  std::fprintf(stderr, "error: %s\n", error.what());
  return 1;
}
