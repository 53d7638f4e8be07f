// The code in docs/guide/08_streams.md.
#include <chrono>
#include <memory>
#include <optional>
#include <ranges>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <rouse/rouse.hpp>

namespace {

namespace stream = rouse::stream;
using namespace std::chrono_literals;

// [generator]
rouse::Async<std::vector<int>> fetch_page(int page) {
  co_await rouse::yield_now();  // stands for the real work
  if (page == 3) co_return std::vector<int>();
  co_return std::vector{10 * page, 10 * page + 1};
}

rouse::AsyncStream<int> entries() {
  for (int page = 0;; ++page) {
    const std::vector<int> found = co_await fetch_page(page);
    if (found.empty()) co_return;
    for (const int entry : found) co_yield entry;
  }
}
// [/generator]

// [loop]
rouse::Async<int> sum_of_entries() {
  int sum = 0;
  auto all = entries();
  while (const auto entry = co_await all.next()) sum += *entry;
  co_return sum;
}
// [/loop]

TEST(StreamsGuide, AGeneratorIsReadInALoop) { EXPECT_EQ(rouse::block_on(sum_of_entries()), 63); }

// [pipeline]
rouse::Async<std::vector<std::string>> some_names() {
  auto even = stream::filter(entries(), [](int entry) { return entry % 2 == 0; });
  auto names = stream::map(std::move(even), [](int entry) { return "#" + std::to_string(entry); });
  co_return co_await stream::collect(stream::take(std::move(names), 2));
}
// [/pipeline]

TEST(StreamsGuide, StreamsAreMadeOfStreams) {
  EXPECT_EQ(rouse::block_on(some_names()), (std::vector<std::string>{"#0", "#10"}));
}

// [next]
rouse::Async<int> until_ten() {
  auto doubled = stream::map(entries(), [](int entry) { return 2 * entry; });
  int steps = 0;
  while (auto value = co_await stream::next(doubled)) {
    if (*value > 10) break;
    ++steps;
  }
  co_return steps;
}
// [/next]

TEST(StreamsGuide, NextReadsAnyStream) { EXPECT_EQ(rouse::block_on(until_ten()), 2); }

// [peekable]
/// The entries in groups of the same tens.
rouse::Async<std::vector<std::vector<int>>> groups() {
  std::vector<std::vector<int>> all;
  auto rest = stream::peekable(entries());
  while (const int* first = co_await rest.peek()) {  // null at the end
    const int tens = *first / 10;
    auto is_same = [tens](int entry) { return entry / 10 == tens; };
    auto& group = all.emplace_back();
    while (auto entry = co_await rest.next_if(is_same)) group.push_back(*entry);
  }
  co_return all;
}
// [/peekable]

TEST(StreamsGuide, APeekableStreamIsLookedAt) {
  EXPECT_EQ(rouse::block_on(groups()), (std::vector<std::vector<int>>{{0, 1}, {10, 11}, {20, 21}}));
}

// [futures]
rouse::Async<std::string> fetch_details(int entry) {
  co_await rouse::yield_now();
  co_return "details of " + std::to_string(entry);
}

rouse::Async<std::vector<std::string>> all_details() {
  auto fetches = stream::map(entries(), fetch_details);  // a stream of futures
  co_return co_await stream::collect(stream::buffered(std::move(fetches), 4));
}
// [/futures]

TEST(StreamsGuide, FuturesOfAStreamRunTogetherAndComeInOrder) {
  const auto details = rouse::block_on(all_details());
  ASSERT_EQ(details.size(), 6U);
  EXPECT_EQ(details[5], "details of 21");
}

// [concurrent]
rouse::Async<std::size_t> total_length() {
  std::size_t total = 0;
  auto measure = [&](int entry) -> rouse::Async<void> {
    const std::string details = co_await fetch_details(entry);
    total += details.size();
  };
  co_await stream::for_each_concurrent(entries(), 4, measure);
  co_return total;
}
// [/concurrent]

TEST(StreamsGuide, ForEachConcurrentRunsSeveral) {
  EXPECT_EQ(rouse::block_on(total_length()), 4 * 13U + 2 * 12U);
}

// [by_ref]
rouse::Async<std::pair<std::vector<int>, int>> header_and_rest() {
  auto all = entries();
  auto header = co_await stream::collect(stream::take(stream::by_ref(all), 2));
  auto plus = [](int sum, int entry) { return sum + entry; };
  const int rest = co_await stream::fold(all, 0, plus);
  co_return std::pair(std::move(header), rest);
}
// [/by_ref]

TEST(StreamsGuide, ABorrowedStreamGoesOn) {
  const auto [header, rest] = rouse::block_on(header_and_rest());
  EXPECT_EQ(header, (std::vector{0, 1}));
  EXPECT_EQ(rest, 62);
}

// [stream_map]
rouse::Async<std::vector<std::string>> hear_all() {
  stream::StreamMap<std::string, rouse::AsyncStream<int>> rooms;
  rooms.insert("kitchen", entries());
  rooms.insert("hall", entries());
  std::vector<std::string> heard;
  while (auto said = co_await rooms.next()) {
    heard.push_back(said->first);
    if (heard.size() == 3) rooms.remove("hall");
  }
  co_return heard;
}
// [/stream_map]

TEST(StreamsGuide, StreamsUnderKeysComeAndGo) {
  const auto heard = rouse::block_on(hear_all());
  EXPECT_GE(heard.size(), 6U);
  EXPECT_EQ(heard.back(), "kitchen");
}

// [time]
rouse::Async<std::size_t> in_batches() {
  std::size_t batches = 0;
  auto calm = stream::throttle(entries(), 5ms);                      // an item each 5 ms
  auto chunks = stream::chunks_timeout(std::move(calm), 100, 12ms);  // what comes within 12 ms
  while (const auto batch = co_await stream::next(chunks)) ++batches;
  co_return batches;
}
// [/time]

TEST(StreamsGuide, SomeStreamsLookAtTheClock) {
  auto rt = rouse::Runtime::builder().current_thread().start_paused().build();
  EXPECT_EQ(rt.block_on(in_batches()), 2U);
}

// [try]
rouse::Result<int> parse(const std::string& text) {
  if (text.empty()) return std::errc::invalid_argument;
  return static_cast<int>(text.size());
}

rouse::Async<int> sum_of(std::vector<std::string> texts) {
  auto parsed = stream::map(stream::iter(std::move(texts)), parse);  // a stream of Result<int>
  int sum = 0;
  while (auto number = co_await stream::try_next(parsed)) sum += *number;  // throws the error
  co_return sum;
}

rouse::Async<std::size_t> count_of(std::vector<std::string> texts) {
  auto parsed = stream::map(stream::iter(std::move(texts)), parse);
  auto all = co_await stream::try_collect(std::move(parsed)).result();
  co_return all ? all->size() : 0;  // all.error() is the first error
}
// [/try]

TEST(StreamsGuide, AStreamOfResultsIsReadUntilItsFirstError) {
  EXPECT_EQ(rouse::block_on(sum_of({"a", "bb"})), 3);
  EXPECT_THROW(rouse::block_on(sum_of({"a", ""})), std::system_error);
  EXPECT_EQ(rouse::block_on(count_of({"a", "bb"})), 2U);
  EXPECT_EQ(rouse::block_on(count_of({"a", ""})), 0U);
}

// [own]
class Countdown {
 public:
  using Item = int;
  explicit Countdown(int from) : left_(from) {}

  rouse::Poll<std::optional<int>> poll_next(rouse::Context& cx) {
    using Polled = rouse::Poll<std::optional<int>>;
    if (left_ == 0) return Polled::ready(std::nullopt);
    if (!cx.take_budget()) return rouse::pending;
    return Polled::ready(left_--);
  }

 private:
  int left_;
};
static_assert(rouse::Stream<Countdown>);
// [/own]

TEST(StreamsGuide, AnythingWithPollNextIsAStream) {
  EXPECT_EQ(rouse::block_on(stream::collect(Countdown(3))), (std::vector{3, 2, 1}));
}

}  // namespace
