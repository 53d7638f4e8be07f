// Tasks that start other tasks, and one that waits for two things at once. `spawn` starts a task
// that runs by itself; `join` runs several futures inside one task. `run` returns when no task is
// left. The labels say when each line is due, the numbers when it came. After "the simplest async
// runtime" of the texts that rouse began from.
#include <chrono>
#include <cstdio>

#include <rouse/rouse.hpp>

#include "support/scale.hpp"
#include "support/sleep.hpp"

using namespace std::chrono_literals;

namespace {

// [join_and_spawn]
class Stopwatch {
 public:
  explicit Stopwatch(Scale scale) : scale_(scale) {}
  Sleep sleep(std::chrono::milliseconds time) const { return Sleep(scale_(time)); }
  void print(const char* label) const { std::printf("%s: %ldms\n", label, scale_.since(start_)); }

 private:
  Scale scale_;
  Scale::Clock::time_point start_ = Scale::Clock::now();
};

rouse::Async<void> spawned(Stopwatch watch) {
  co_await watch.sleep(100ms);
  watch.print("100ms");
}

rouse::Async<void> two_sleeps(Stopwatch watch) {
  co_await watch.sleep(1000ms);
  watch.print("1000ms");
  co_await watch.sleep(500ms);
  watch.print("1500ms");
}

rouse::Async<void> one_sleep(Stopwatch watch) {
  co_await watch.sleep(2000ms);
  watch.print("2000ms");
}

rouse::Async<void> start(Scale scale) {
  const Stopwatch watch(scale);
  rouse::spawn(spawned, watch).detach();
  co_await rouse::join(two_sleeps(watch), one_sleep(watch));
  watch.print("joined");
}
// [/join_and_spawn]

}  // namespace

int main(int argc, char** argv) {
  rouse::LocalExecutor executor;
  executor.spawn(start, Scale(argc, argv)).detach();
  executor.run();
  std::printf("run returned: %zu tasks are left\n", executor.live_tasks());
}
