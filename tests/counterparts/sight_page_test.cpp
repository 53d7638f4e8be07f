// The page of sight in Chromium, from a program all of whose workers are stuck.
#include <atomic>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

#include "rouse/exec/abort_handle.hpp"
#include "rouse/exec/task_builder.hpp"
#include "rouse/future/pending_forever.hpp"
#include "rouse/sight/start.hpp"

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

TEST_F(SightPage, SaysThatTheTokenIsMissing) {
  const sight::Sight sight = sight::start(sight::Options().tcp());
  const std::string page = seen_at(sight.url().substr(0, sight.url().find('#')));
  if (IsSkipped()) return;
  EXPECT_THAT(page, HasSubstr("The token is missing or wrong"));
}

}  // namespace
}  // namespace rouse::test
