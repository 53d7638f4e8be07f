// The page of sight in Chromium, from a program all of whose workers are stuck.
#include <atomic>
#include <functional>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

#include "rouse/exec/abort_handle.hpp"
#include "rouse/exec/task_builder.hpp"
#include "rouse/future/join_all.hpp"
#include "rouse/future/pending_forever.hpp"
#include "rouse/sight/name.hpp"
#include "rouse/sight/start.hpp"
#include "rouse/sight/stuck.hpp"
#include "rouse/sync/mutex.hpp"

#include "counterparts/support.hpp"

namespace rouse::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class SightPage : public Counterpart {
 protected:
  /// What is on the page after some rounds of its own, as HTML; its script is left out.
  std::string seen_at(const std::string& url) {
    const std::string chromium = program("chromium");
    if (IsSkipped()) return {};
    const TempDirectory profile;
    std::string page =
        run_shell(chromium +
                  " --headless --no-sandbox --disable-gpu --disable-quic --no-first-run"
                  " --disable-background-networking --disable-component-update --disable-sync"
                  " --user-data-dir=" +
                  profile.path() + " --virtual-time-budget=3000 --dump-dom '" + url + "' 2>&1")
            .output;
    const std::size_t begin = page.find("<script>");
    if (begin != std::string::npos) page.erase(begin, page.find("</script>") - begin);
    return page;
  }
};

Async<void> stick(std::atomic<int>& begun, std::atomic<bool>& is_over) {
  ++begun;
  while (!is_over.load()) {
  }
  co_return;
}

TEST_F(SightPage, ShowsTheTasksOfAStuckProgram) {
  const sight::Sight sight = sight::start(sight::Options().tcp());
  std::atomic<int> begun{0};
  std::atomic<bool> is_over{false};
  std::vector<JoinHandle<void>> stuck;
  for (int i = 0; i < 2; ++i) {
    stuck.push_back(task::Builder()
                        .name("wedged <img src=x onerror=\"document.title='harm'\">")
                        .spawn_on(rt.spawner(), stick, std::ref(begun), std::ref(is_over)));
  }
  while (begun != 2) std::this_thread::yield();
  const std::string page = seen_at(sight.url());
  is_over = true;
  for (auto& task : stuck) rt.block_on(std::move(task));
  if (IsSkipped()) return;
  EXPECT_THAT(page, HasSubstr("badge running\">running<"));
  EXPECT_THAT(page, HasSubstr("wedged &lt;img src=x onerror="));
  EXPECT_THAT(page, AllOf(Not(HasSubstr("<img")), HasSubstr("<title>rouse sight</title>")));
  EXPECT_THAT(page, HasSubstr("2 tasks in 1 group"));
  EXPECT_THAT(page, HasSubstr(">live<"));
}

Async<void> wait_for(JoinHandle<void> other) { co_await std::move(other); }

/// The name turns the direction of what is behind it (U+061C), unless it is made visible.
TEST_F(SightPage, ShowsWhoWaitsForWhom) {
  const sight::Sight sight = sight::start(sight::Options().tcp());
  auto awaited =
      task::Builder().name("awaited \xd8\x9c").spawn_on(rt.spawner(), pending_forever<void>());
  const std::string id = std::to_string(awaited.id());
  const auto end = awaited.abort_handle();
  auto waiting = rt.spawn(wait_for(std::move(awaited)));
  const std::string page = seen_at(sight.url());
  end.abort();
  EXPECT_THROW(rt.block_on(std::move(waiting)), JoinError);
  if (IsSkipped()) return;
  EXPECT_THAT(page, HasSubstr(">joins</text>"));
  EXPECT_THAT(page, HasSubstr("title=\"task " + id + "\""));
  EXPECT_THAT(page, HasSubstr("title=\"awaited \\x61c\""));
}

Async<void> join_some(sync::Mutex<int>& lock) {
  const auto guard = co_await lock.lock();
  const auto wait_for_lock = [](sync::Mutex<int>& other) -> Async<void> {
    const auto unused = co_await other.lock();
  };
  std::vector<JoinHandle<void>> children;
  for (int i = 0; i < 9; ++i) {
    children.push_back(task::Builder().name("child").spawn(wait_for_lock, std::ref(lock)));
  }
  co_await join_all(std::move(children));
}

/// Of a deadlock that is no ring: each task with the one that it waits for.
TEST_F(SightPage, ShowsDeadlocks) {
  const sight::Sight sight = sight::start(sight::Options().tcp());
  sync::Mutex<int> lock;
  const auto named = sight::name(lock, "table");
  Runtime own = Runtime::builder().worker_threads(1).build();
  auto parent = task::Builder().name("parent").spawn_on(own.spawner(), join_some, std::ref(lock));
  while (sight::find_stuck().empty()) std::this_thread::yield();
  const std::string page = seen_at(sight.url());
  if (IsSkipped()) return;
  const std::string text = std::regex_replace(page, std::regex("<[^>]*>"), "");
  EXPECT_THAT(text, HasSubstr("deadlock 1 "));
  EXPECT_THAT(text, HasSubstr("child waits for table, acquired by parent waits for child; "
                              "child waits for table, acquired by parent; "));
  EXPECT_THAT(text, HasSubstr("; and 2 more tasks"));
  EXPECT_THAT(text, Not(HasSubstr("not in this dump")));  // of each group a dump has four ids
}

TEST_F(SightPage, SaysThatTheTokenIsMissing) {
  const sight::Sight sight = sight::start(sight::Options().tcp());
  const std::string page = seen_at(sight.url().substr(0, sight.url().find('#')));
  if (IsSkipped()) return;
  EXPECT_THAT(page, HasSubstr("The token is missing or wrong"));
}

}  // namespace
}  // namespace rouse::test
