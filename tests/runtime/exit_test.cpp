// std::exit inside a task, while a Runtime is a static object: the program ends with that code.
#include <cstdlib>
#include <functional>
#include <optional>
#include <utility>

#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/exec/block_in_place.hpp"
#include "rouse/exec/local_executor.hpp"
#include "rouse/exec/local_set.hpp"
#include "rouse/exec/spawn_local.hpp"
#include "rouse/exec/spawner.hpp"
#include "rouse/future/pending_forever.hpp"
#include "rouse/runtime/runtime.hpp"

namespace rouse {
namespace {

/// As `static Runtime`: made when it is known which, destroyed by exit.
Runtime& static_runtime(RuntimeBuilder builder) {
  static Runtime runtime = builder.build();
  return runtime;
}
RuntimeBuilder workers(std::size_t count) { return Runtime::builder().worker_threads(count); }

Async<void> exits(int code) {
  std::exit(code);
  co_return;
}
Async<void> waits() { co_await pending_forever<>(); }

TEST(ExitDeathTest, InATaskEndsTheProgramWithItsCode) {
  EXPECT_EXIT(static_runtime(workers(1)).block_on(exits(3)), ::testing::ExitedWithCode(3), "");
  EXPECT_EXIT(static_runtime(workers(3)).block_on(exits(4)), ::testing::ExitedWithCode(4), "");
  EXPECT_EXIT(static_runtime(Runtime::builder().current_thread()).block_on(exits(5)),
              ::testing::ExitedWithCode(5), "");
}

TEST(ExitDeathTest, InASpawnedTaskEndsTheProgramWithItsCode) {
  auto main = []() -> Async<void> {
    auto other = spawn(waits());
    auto exiting = spawn(exits, 6);
    co_await exiting;
    co_await other;
  };
  EXPECT_EXIT(static_runtime(workers(2)).block_on(main()), ::testing::ExitedWithCode(6), "");
  EXPECT_EXIT(static_runtime(Runtime::builder().current_thread()).block_on(main()),
              ::testing::ExitedWithCode(6), "");
}

TEST(ExitDeathTest, InATaskOfAStaticExecutorOrSetEndsTheProgramWithItsCode) {
  auto in_executor = [] {
    static LocalExecutor executor;
    executor.run_until(exits(9));
  };
  EXPECT_EXIT(in_executor(), ::testing::ExitedWithCode(9), "");
  auto in_set = [](bool in_task_of_runtime) {
    static LocalSet set;
    auto main = [=]() -> Async<void> {
      co_await (in_task_of_runtime ? spawn(exits, 10) : spawn_local(exits, 10));
    };
    set.block_on(static_runtime(Runtime::builder().current_thread()), main());
  };
  EXPECT_EXIT(in_set(false), ::testing::ExitedWithCode(10), "");
  EXPECT_EXIT(in_set(true), ::testing::ExitedWithCode(10), "");
}

TEST(ExitDeathTest, InABlockingCallEndsTheProgramWithItsCode) {
  auto in_place = []() -> Async<void> {
    block_in_place([] { std::exit(7); });
    co_return;
  };
  EXPECT_EXIT(static_runtime(workers(2)).block_on(in_place()), ::testing::ExitedWithCode(7), "");
  auto joins = [](auto task) -> Async<void> { co_await spawn(task); };
  EXPECT_EXIT(static_runtime(workers(2)).block_on(joins(in_place)), ::testing::ExitedWithCode(7),
              "");
  auto blocking = []() -> Async<void> { co_await spawn_blocking([] { std::exit(8); }); };
  EXPECT_EXIT(static_runtime(workers(2)).block_on(blocking()), ::testing::ExitedWithCode(8), "");
}

}  // namespace
}  // namespace rouse
