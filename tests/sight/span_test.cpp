// Spans: they follow their future through awaits, threads and children, and end with it.
#include "rouse/sight/span.hpp"

#include <atomic>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/exec/block_on.hpp"
#include "rouse/exec/parallel.hpp"
#include "rouse/exec/task_local.hpp"
#include "rouse/future/pending_forever.hpp"
#include "rouse/future/ready.hpp"
#include "rouse/future/yield_now.hpp"
#include "rouse/runtime/runtime.hpp"
#include "rouse/sight/start.hpp"
#include "rouse/sync/notify.hpp"
#include "rouse/testing/drop_at_each_poll.hpp"
#include "rouse/testing/gate.hpp"

#include "sight/seen.hpp"
#include "sight/traced.hpp"

namespace rouse::sight {
namespace {

using rouse::test::Json;
using rouse::test::Traced;
using ::testing::HasSubstr;

Sight record_spans() { return start(Options().record()); }

Async<std::uint64_t> span_here() {
  const std::optional<TraceContext> trace = current_trace();
  co_return trace ? trace->span_id() : 0;
}
std::string digits_of(std::uint64_t id) {
  char text[17];
  std::snprintf(text, sizeof text, "%016lx", static_cast<unsigned long>(id));
  return text;
}

TEST(Span, BeginsAndEndsWithItsFuture) {
  const Sight recording = record_spans();
  const auto serve = []() -> Async<int> {
    co_await yield_now();
    event("half way", {{"percent", 50}});
    co_return 7;
  };
  const std::string peer = "127.0.0.1:1";
  const auto request = [&]() -> Async<int> {
    co_return co_await in_span("request", serve(), {{"peer", peer}, {"number", -3}});
  };
  EXPECT_EQ(block_on(request()), 7);
  event("outside");

  const Traced traced = Traced::now();
  const std::vector<Json> begins = traced.all("b");
  ASSERT_EQ(begins.size(), 1U);
  EXPECT_EQ(begins[0]["name"].string(), "request");
  EXPECT_EQ(begins[0]["args"]["fields"]["peer"].string(), peer);
  EXPECT_EQ(begins[0]["args"]["fields"]["number"].real(), -3);
  const std::vector<Json> ends = traced.all("e");
  ASSERT_EQ(ends.size(), 1U);
  EXPECT_EQ(ends[0]["id"].string(), begins[0]["id"].string());
  EXPECT_EQ(ends[0]["name"].string(), "request");
  const std::vector<Json> events = traced.all("i", "half way");
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0]["args"]["span"].string(), begins[0]["id"].string());
  EXPECT_EQ(events[0]["args"]["fields"]["percent"].number(), 50U);
  EXPECT_LE(Traced::time_of(begins[0]), Traced::time_of(events[0]));
  EXPECT_LE(Traced::time_of(events[0]), Traced::time_of(ends[0]));
  EXPECT_FALSE(traced.all("i", "outside")[0]["args"].has("span"));
}

TEST(Span, KnowsTheOneAroundIt) {
  const Sight recording = record_spans();
  const auto outer = []() -> Async<std::pair<std::uint64_t, std::uint64_t>> {
    const std::uint64_t before = co_await span_here();
    const std::uint64_t inner = co_await in_span("inner", span_here());
    EXPECT_EQ(co_await span_here(), before);
    co_return std::pair(before, inner);
  };
  const auto [around, inner] = block_on(in_span("outer", outer()));
  EXPECT_NE(around, 0U);
  EXPECT_NE(inner, around);
  EXPECT_FALSE(current_trace());
  const std::vector<Json> begins = Traced::now().all("b", "inner");
  ASSERT_EQ(begins.size(), 1U);
  EXPECT_EQ(begins[0]["id"].string(), digits_of(inner));
  EXPECT_EQ(begins[0]["args"]["parent"].string(), digits_of(around));
}

TEST(Span, IsThatOfItsFutureOnEachThread) {
  const Sight recording = record_spans();
  std::vector<std::uint64_t> seen;
  const auto twice = [&]() -> Async<void> {
    seen.push_back(co_await span_here());
    co_await yield_now();
    seen.push_back(co_await span_here());
  };
  auto span = in_span("wanders", twice());
  const auto poll = [&] {
    Context cx(Waker::noop());
    return span.poll(cx).is_ready();
  };
  bool is_ready = true;
  std::thread([&] { is_ready = poll(); }).join();
  EXPECT_FALSE(is_ready);
  EXPECT_FALSE(current_trace());
  EXPECT_TRUE(poll());
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_NE(seen[0], 0U);
  EXPECT_EQ(seen[0], seen[1]);
  EXPECT_EQ(Traced::now().all("e").size(), 1U);  // though the future is there still
}

TEST(Span, IsSeenByParallelChildren) {
  const Sight recording = record_spans();
  Runtime rt = Runtime::builder().worker_threads(2).build();
  const auto forks = []() -> Async<void> {
    const std::uint64_t here = co_await span_here();
    const auto [a, b] = co_await parallel(span_here(), span_here());
    EXPECT_NE(here, 0U);
    EXPECT_EQ(a, here);
    EXPECT_EQ(b, here);
  };
  for (int i = 0; i < 100; ++i) rt.block_on(rt.spawn(in_span("forks", forks())));
}

TEST(Span, EndsIfItsFutureThrows) {
  const Sight recording = record_spans();
  const auto fails = []() -> Async<void> {
    co_await yield_now();
    throw std::runtime_error("as planned");
  };
  EXPECT_THROW(block_on(in_span("fails", fails())), std::runtime_error);
  EXPECT_EQ(Traced::now().all("e", "fails").size(), 1U);
}

/// What is dropped in a span sees it.
class SpanAtEnd {
 public:
  explicit SpanAtEnd(std::uint64_t& seen) : seen_(&seen) {}
  SpanAtEnd(SpanAtEnd&& other) noexcept : seen_(std::exchange(other.seen_, nullptr)) {}
  SpanAtEnd& operator=(SpanAtEnd&&) = delete;
  ~SpanAtEnd() {
    if (seen_ != nullptr) *seen_ = current_trace() ? current_trace()->span_id() : 0;
  }

 private:
  std::uint64_t* seen_;
};

void drop_spans(bool is_recorded) {
  std::uint64_t seen = 0;
  std::optional<testing::Gate<int>> gate;
  const auto wait = [](testing::Gate<int>& opens, SpanAtEnd) -> Async<int> {
    co_await yield_now();
    co_return co_await opens.wait();
  };
  std::uint64_t begun = 0;
  const auto report = testing::drop_at_each_poll(
      [&] {
        seen = 1;
        ++begun;
        return in_span("dropped", wait(gate.emplace(), SpanAtEnd(seen)));
      },
      [&](std::size_t i) {
        if (i == 2) gate->open(1);
      },
      [&](std::size_t) {
        EXPECT_EQ(seen != 0, is_recorded);
        EXPECT_FALSE(current_trace());
      });
  EXPECT_EQ(report.polls, 3U);
  EXPECT_EQ(report.wakers_left, 0U);
  EXPECT_FALSE(report.threw);
  const Traced traced = Traced::now();
  EXPECT_EQ(traced.all("b").size(), is_recorded ? begun : 0);
  EXPECT_EQ(traced.all("e").size(), is_recorded ? begun : 0);
}

TEST(Span, MayBeDroppedAtEachPoll) {
  const Sight recording = record_spans();
  drop_spans(true);
}
TEST(Span, MayBeDroppedAtEachPollWhileNothingIsRecorded) { drop_spans(false); }

TEST(Span, WhileNothingIsRecordedIsItsFuture) {
  EXPECT_EQ(block_on(in_span("quiet", span_here(), {{"a", 1}})), 0U);
  event("quiet");
  EXPECT_TRUE(Traced::now().events().empty());
}

TEST(Span, GoesOnWhatACallerBegan) {
  const TraceContext caller = TraceContext::generate();
  const auto here = []() -> Async<TraceContext> { co_return *current_trace(); };
  // Not recorded it is passed on as it is.
  EXPECT_EQ(block_on(in_span("request", here(), {}, caller)), caller);
  const Sight recording = record_spans();
  const TraceContext own = block_on(in_span("request", here(), {}, caller));
  EXPECT_EQ(own.trace_id_high(), caller.trace_id_high());
  EXPECT_EQ(own.trace_id_low(), caller.trace_id_low());
  EXPECT_NE(own.span_id(), caller.span_id());
  const std::vector<Json> begins = Traced::now().all("b");
  ASSERT_EQ(begins.size(), 1U);
  EXPECT_EQ(begins[0]["args"]["parent"].string(), digits_of(caller.span_id()));
}

TEST(Span, FieldsAreOfEachKindAndEscaped) {
  const Sight recording = record_spans();
  const std::string hostile = "\"}\x01\xff</script>";
  event(hostile, {{"text", "a"},
                  {"string", std::string("b")},
                  {"number", std::uint64_t{1} << 63},
                  {"real", 0.5},
                  {"not a number", 0.0 / 0.0},
                  {"bool", true},
                  {hostile, hostile},
                  {"text", "the last counts"}});
  event(std::string(200, 'n'), {{std::string(200, 'k'), std::string(200, 'v')}, {"", "no key"}});
  const std::vector<Json> events = Traced::now().all("i");
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[0]["name"].string(), "\"}\x01\xef\xbf\xbd</script>");
  const Json& fields = events[0]["args"]["fields"];
  EXPECT_EQ(fields["text"].string(), "the last counts");
  EXPECT_EQ(fields["string"].string(), "b");
  EXPECT_EQ(fields["number"].number(), std::uint64_t{1} << 63);
  EXPECT_EQ(fields["real"].real(), 0.5);
  EXPECT_EQ(fields["not a number"].string(), "nan");
  EXPECT_EQ(fields["bool"].type(), Json::Type::boolean);
  EXPECT_EQ(fields["\"}\x01\xef\xbf\xbd</script>"].string(), "\"}\x01\xef\xbf\xbd</script>");
  EXPECT_EQ(events[1]["name"].string(), std::string(96, 'n'));
  EXPECT_EQ(events[1]["args"]["fields"][std::string(96, 'k')].string(), std::string(96, 'v'));
  EXPECT_EQ(events[1]["args"]["fields"].members().size(), 1U);
}

TEST(Span, OneThatIsNotOverHasNoEnd) {
  const Sight recording = record_spans();
  auto span = in_span("waits", pending_forever<void>());
  Context cx(Waker::noop());
  EXPECT_TRUE(span.poll(cx).is_pending());
  const Traced traced = Traced::now();
  EXPECT_EQ(traced.all("b", "waits").size(), 1U);
  EXPECT_TRUE(traced.all("e").empty());
}

TEST(Span, ADumpLooksThroughIt) {
  Runtime rt = Runtime::builder().worker_threads(1).build();
  sync::Notify notify;
  auto task = rt.spawn(
      [](sync::Notify* told) -> Async<void> { co_await in_span("waits", told->notified()); },
      &notify);
  const rouse::test::Seen seen = rouse::test::see_idle({task.id()});
  EXPECT_EQ(seen.task(task.id())["waits"]["for"]["kind"].string(), "notify");
  notify.notify_one();
  rt.block_on(std::move(task));
}

}  // namespace
}  // namespace rouse::sight
