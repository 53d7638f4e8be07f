// Threads that cannot be started, and what is asked about CPUs.
#include "rouse/thread/thread.hpp"

#include <optional>
#include <semaphore>
#include <string_view>

#include <gtest/gtest.h>

#include "rouse/exec/block_in_place.hpp"
#include "rouse/exec/block_on.hpp"
#include "rouse/exec/blocking_pool.hpp"
#include "rouse/exec/parallel.hpp"
#include "rouse/fs/operations.hpp"
#include "rouse/future/pending_forever.hpp"
#include "rouse/net/lookup_host.hpp"
#include "rouse/runtime/runtime.hpp"

#include "faulty/harness.hpp"
#include "support/sanitizer.hpp"

namespace rouse::faulty {
namespace {

/// Sanitizers use attributes themselves, whenever a thread starts.
Site own_uses(Site site, std::string_view call) {
  if (test::sanitized && call == "pthread_attr_init") site.only_first(1);
  return site;
}

void build_a_pool(Runtime&) {
  auto builder = Runtime::builder();
  builder.worker_threads(3).thread_stack_size(std::size_t{1} << 20U).thread_name("faulty");
  builder.build().block_on(exchange());
}

/// The runtime has no thread for it yet, and may not get one.
template <class Fn>
void on_a_new_runtime(Fn fn) {
  Runtime rt = make_runtime(On::current_thread);
  rt.block_on(fn());
  rt.block_on(echo());
}
void block_first(Runtime&) {
  on_a_new_runtime([]() -> Async<void> { co_await spawn_blocking([] {}); });
}
void use_a_file_first(Runtime&) {
  on_a_new_runtime([]() -> Async<void> { co_await fs::metadata("/"); });
}
void look_up_first(Runtime&) {
  on_a_new_runtime([]() -> Async<void> { co_await net::lookup_host("localhost:1"); });
}

Async<void> start_a_thread() {
  auto handle = thread::Builder().name("faulty").stack_size(std::size_t{1} << 20U).spawn([] {});
  co_await handle.join();
}

void build_one_worker_a_cpu(Runtime&) { Runtime().block_on(exchange()); }

TEST(FaultyThread, ARuntimeWhoseThreadsDoNotStartIsNotBuilt) {
  for (const char* call : {"pthread_create", "pthread_attr_init", "pthread_attr_setstacksize"}) {
    own_uses(Site(call, "build a Runtime", build_a_pool), call).try_all();
  }
}

TEST(FaultyThread, ACallWithoutAThreadIsReported) {
  for (const char* call : {"pthread_create", "pthread_attr_init"}) {
    own_uses(Site(call, "the first spawn_blocking", block_first), call).try_all();
    own_uses(Site(call, "the first use of a file", use_a_file_first), call).try_all();
    own_uses(Site(call, "the first lookup", look_up_first), call).try_all();
  }
}

TEST(FaultyThread, ACallThatGetsNoThreadOfItsOwnIsDoneByAnother) {
  Runtime rt = make_runtime(On::current_thread);
  const Watchdog watchdog("a second call without a thread");
  std::binary_semaphore held(0);
  auto first = rt.spawn_blocking([&held] { held.acquire(); });
  {
    const Injection injection(Fault("pthread_create", EAGAIN).always());
    auto second = rt.spawn_blocking([] { return 7; });
    EXPECT_EQ(injection.hits(), 1);
    held.release();
    EXPECT_EQ(rt.block_on(std::move(second)), 7);
  }
  rt.block_on(std::move(first));
  add_row("pthread_create", "EAGAIN", "the second spawn_blocking", 1, "left to the first thread");
}

TEST(FaultyThread, AThreadThatDoesNotStartIsReported) {
  for (const char* call : {"pthread_create", "pthread_attr_init", "pthread_attr_setstacksize"}) {
    own_uses(Site(call, "thread::spawn", start_a_thread), call).try_all();
  }
}

TEST(FaultyThread, AThreadWithoutItsNameRuns) {
  Site("pthread_setname_np", "thread::spawn", start_a_thread)
      .ignored("runs without its name")
      .try_all();
}

TEST(FaultyThread, ABlockingTaskThatGetsNoThreadKeepsItsWorker) {
  // The two workers are started before; the third is that of the block.
  Runtime rt = make_runtime(On::two_workers);
  const Watchdog watchdog("block_in_place without a thread");
  for (const int error : {EAGAIN, EINVAL, EPERM}) {
    const Injection injection(Fault("pthread_create", error).always());
    rt.block_on([]() -> Async<void> {
      block_in_place([] {});
      co_await echo();
    }());
    EXPECT_EQ(injection.hits(), 1);
    add_row("pthread_create", name_of_error(error), "block_in_place", 1,
            "blocks its worker instead");
  }
}

Async<void> never() { co_await pending_forever<>(); }
Async<void> block_until_a_task_ends(std::binary_semaphore* begun) {
  auto task = spawn(never());
  block_in_place([&] {
    begun->release();
    EXPECT_THROW(block_on(std::move(task)), JoinError);
  });
  co_return;
}
Async<void> await_one_that_blocks(std::binary_semaphore* begun) {
  co_await parallel(block_until_a_task_ends(begun), never());
}

TEST(FaultyThread, AnEndThatGetsNoThreadSweepsWhatAChildWaitsFor) {
  const Watchdog watchdog("the end of a runtime without a thread for it");
  std::binary_semaphore begun(0);
  std::optional<Runtime> rt(Runtime::builder().worker_threads(1).build());
  const Injection injection(Fault("pthread_create", EAGAIN).always());
  // Spawned on the worker: so the parent is swept before the task that its child waits for.
  auto on_the_worker = [](std::binary_semaphore* semaphore) -> Async<void> {
    spawn(await_one_that_blocks, semaphore).detach();
    co_return;
  };
  rt->spawn(on_the_worker, &begun).detach();
  begun.acquire();
  rt.reset();
}

TEST(FaultyThread, AnUnknownNumberOfCpusIsOne) {
  Site("sched_getaffinity", "build a Runtime", build_one_worker_a_cpu)
      .ignored({EINVAL}, "called again with a larger buffer")
      .ignored("one worker")
      .try_all();
  Site("__sched_cpualloc", "build a Runtime", build_one_worker_a_cpu)
      .ignored("one worker")
      .try_all();
}

}  // namespace
}  // namespace rouse::faulty
