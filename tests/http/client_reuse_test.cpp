// Which connections of the client are used again, and when a request is sent again.
#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/exec/join_handle.hpp"
#include "rouse/exec/spawner.hpp"
#include "rouse/future/yield_now.hpp"
#include "rouse/io/bytes_reader.hpp"
#include "rouse/io/read.hpp"
#include "rouse/testing/drop_at_each_poll.hpp"
#include "rouse/time/pause.hpp"

#include "http/client_support.hpp"

namespace rouse::http {
namespace {

Async<void> let_others_run() { co_await time::advance(0s); }

TEST(HttpClientReuse, OneConnectionServesOneRequestAfterAnother) {
  run_paused([]() -> Async<void> {
    Script script(Script::answering({ok("a")}));
    const Client client = script.client();
    for (int i = 0; i < 10; ++i) EXPECT_EQ(co_await outcome_of(client.get("http://h/")), "200 a");
    EXPECT_EQ(script->connections, 1);
    EXPECT_EQ(co_await outcome_of(client.get("http://h:81/")), "200 a");
    EXPECT_EQ(script->connections, 2) << "another port is another host";
  });
}

TEST(HttpClientReuse, AHostHasABoundOfConnections) {
  run_paused([]() -> Async<void> {
    Script script([](io::DuplexStream end, Seen&, int) -> Async<void> {
      while (!(co_await read_request(end)).empty()) {
        co_await sleep(1s);
        co_await end.write_all(ok("slow"));
      }
    });
    const Client client = script.builder().connections_per_host(2).build();
    std::vector<JoinHandle<std::string>> tasks;
    for (int i = 0; i < 6; ++i) tasks.push_back(spawn(outcome_of, client.get("http://h/")));
    const auto begin = time::now();
    for (auto& task : tasks) EXPECT_EQ(co_await task, "200 slow");
    EXPECT_EQ(time::now() - begin, 3s);
    EXPECT_EQ(script->connections, 2);
  });
}

TEST(HttpClientReuse, AnIdleConnectionIsClosedAfterAWhile) {
  run_paused([]() -> Async<void> {
    Script script(Script::answering({ok("a")}));
    const Client client = script.client();
    EXPECT_EQ(co_await outcome_of(client.get("http://h/")), "200 a");
    co_await sleep(14s);
    EXPECT_EQ(script->alive, 1);
    co_await sleep(2s);
    EXPECT_EQ(script->alive, 0);
    EXPECT_EQ(client.metrics().open, 0U);
  });
}

TEST(HttpClientReuse, TheServerMaySayHowLongItWaits) {
  run_paused([]() -> Async<void> {
    Script script(Script::answering(
        {"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nKeep-Alive: max=9, timeout=5\r\n\r\n"}));
    const Client client = script.client();
    EXPECT_EQ(co_await outcome_of(client.get("http://h/")), "200 ");
    co_await sleep(3900ms);
    EXPECT_EQ(script->alive, 1);
    co_await sleep(200ms);
    EXPECT_EQ(script->alive, 0);
  });
}

TEST(HttpClientReuse, OneThatTheServerClosedIsNotUsed) {
  run_paused([]() -> Async<void> {
    Script script(Script::answering({ok("first") + "<close>", ok("second")}));
    const Client client = script.client();
    EXPECT_EQ(co_await outcome_of(client.post("http://h/")), "200 first");
    co_await let_others_run();
    EXPECT_EQ(co_await outcome_of(client.post("http://h/")), "200 second");
    EXPECT_EQ(client.metrics().repeats, 0U);
  });
}

/// Closes the first connection when the second request comes.
Script::Serve closes_on_the_second(int* bytes_before = nullptr) {
  return [bytes_before](io::DuplexStream end, Seen& seen, int number) -> Async<void> {
    (void)co_await read_request(end);
    co_await end.write_all(ok("first"));
    seen.requests.push_back(co_await read_request(end));
    if (number == 0) {
      if (bytes_before) co_await end.write_all("HTTP/1.1 2");
      co_return;
    }
    co_await end.write_all(ok("again"));
  };
}

TEST(HttpClientReuse, ARequestThatMayBeRepeatedIsSentOnceMore) {
  run_paused([]() -> Async<void> {
    Script script(closes_on_the_second());
    const Client client = script.client();
    EXPECT_EQ(co_await outcome_of(client.get("http://h/")), "200 first");
    EXPECT_EQ(co_await outcome_of(client.put("http://h/").body("x")), "200 first");
    EXPECT_EQ(script->connections, 2);
    EXPECT_EQ(client.metrics().repeats, 1U);
  });
}

TEST(HttpClientReuse, OneThatMayHaveBeenDoneIsNot) {
  run_paused([]() -> Async<void> {
    Script script(closes_on_the_second());
    const Client client = script.client();
    EXPECT_EQ(co_await outcome_of(client.get("http://h/")), "200 first");
    EXPECT_EQ(co_await error_of(client.post("http://h/").body("x")), io::Error::unexpected_eof);
    EXPECT_EQ(script->connections, 1);
  });
}

TEST(HttpClientReuse, OneOfWhichAnAnswerHasBegunIsNot) {
  run_paused([]() -> Async<void> {
    int some = 0;
    Script script(closes_on_the_second(&some));
    const Client client = script.client();
    EXPECT_EQ(co_await outcome_of(client.get("http://h/")), "200 first");
    EXPECT_EQ(co_await error_of(client.get("http://h/")), io::Error::unexpected_eof);
    EXPECT_EQ(script->connections, 1);
  });
}

TEST(HttpClientReuse, OneWhoseBodyIsAStreamIsNot) {
  run_paused([]() -> Async<void> {
    Script script(closes_on_the_second());
    const Client client = script.client();
    EXPECT_EQ(co_await outcome_of(client.get("http://h/")), "200 first");
    auto body = Body::stream(io::BytesReader("x"), 1);
    EXPECT_EQ(co_await error_of(client.put("http://h/").body(std::move(body))),
              io::Error::unexpected_eof);
  });
}

/// Keeps its end of the first connection, for the body of the second request to close it.
Script::Serve closed_by(std::shared_ptr<std::optional<io::DuplexStream>> kept) {
  return [kept](io::DuplexStream end, Seen& seen, int number) -> Async<void> {
    seen.requests.push_back(co_await read_request(end));
    co_await end.write_all(ok(number == 0 ? "first" : "again"));
    if (number == 0) kept->emplace(std::move(end));
  };
}

/// A body that has the server close the connection while its first piece is made.
class ClosesWhenRead : public io::ReadMembers<ClosesWhenRead> {
 public:
  using Read = Poll<Result<std::size_t>>;
  ClosesWhenRead(std::shared_ptr<std::optional<io::DuplexStream>> kept, Read first)
      : kept_(std::move(kept)), first_(std::move(first)) {}

  /// The first read gives `first`, the others all there is: 'x'.
  Read poll_read(Context&, std::span<std::byte> buf) {
    std::ranges::fill(buf, std::byte{'x'});
    if (!*kept_) return Read::ready(buf.size());
    kept_->reset();
    return first_;
  }

 private:
  std::shared_ptr<std::optional<io::DuplexStream>> kept_;
  Read first_;
};

/// What becomes of a POST on a connection that is closed while its body is read, and the bodies
/// that came.
Async<std::string> outcome_if_closed(ClosesWhenRead::Read first) {
  const auto kept = std::make_shared<std::optional<io::DuplexStream>>();
  Script script(closed_by(kept));
  const Client client = script.client();
  EXPECT_EQ(co_await outcome_of(client.get("http://h/")), "200 first");
  auto body = Body::stream(ClosesWhenRead(kept, std::move(first)), 8);
  std::string outcome = co_await outcome_of(client.post("http://h/").body(std::move(body)));
  EXPECT_FALSE(*kept) << "its body was read";
  for (std::size_t i = 1; i < script->requests.size(); ++i) {
    outcome += ", " + script->requests.at(i).substr(script->requests.at(i).rfind('\n') + 1);
  }
  co_return outcome;
}

TEST(HttpClientReuse, OneOfWhoseStreamAPieceIsGoneIsNotThoughNothingWasWritten) {
  run_paused([]() -> Async<void> {
    using Read = ClosesWhenRead::Read;
    EXPECT_EQ(co_await outcome_if_closed(Read::ready(std::size_t{3})), "generic: Broken pipe");
    const auto unreadable = std::make_error_code(std::errc::io_error);
    EXPECT_EQ(co_await outcome_if_closed(Read::ready(unreadable)), "generic: Input/output error");
    EXPECT_EQ(co_await outcome_if_closed(pending), "200 again, xxxxxxxx") << "nothing was read";
  });
}

TEST(HttpClientReuse, OnAFreshConnectionNothingIsRepeated) {
  run_paused([]() -> Async<void> {
    Script script(Script::answering({""}));
    const Client client = script.client();
    EXPECT_EQ(co_await error_of(client.get("http://h/")), io::Error::unexpected_eof);
    EXPECT_EQ(script->connections, 1);
  });
}

TEST(HttpClientReuse, AReplyThatIsDroppedClosesTheConnectionUnlessTheRestIsThere) {
  run_paused([]() -> Async<void> {
    Script script(Script::answering(
        {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel", ok("all of it"), ok("")}));
    const Client client = script.client();
    {
      const auto reply = co_await client.get("http://h/").send();
    }
    co_await sleep(10ms);
    EXPECT_EQ(script->alive, 0);
    {
      const auto reply = co_await client.get("http://h/").send();
    }
    EXPECT_EQ(co_await outcome_of(client.get("http://h/")), "200 ");
    EXPECT_EQ(script->connections, 2);
  });
}

/// Answers with the target that was asked for, so that an answer can't be taken for another.
Async<void> echo_targets(io::DuplexStream end, Seen&, int) {
  for (;;) {
    const std::string request = co_await read_request(end);
    if (request.empty()) co_return;
    const std::string target = request.substr(4, request.find(' ', 4) - 4);
    const auto sent = co_await end.write_all(ok(target)).result();
    if (!sent) co_return;
  }
}

TEST(HttpClientReuse, ARequestDroppedAtAnyPollLeavesNoAnswerToTheNext) {
  run_paused([]() -> Async<void> {
    Script script(echo_targets);
    const Client client = script.builder().connections_per_host(1).build();
    for (std::size_t polls = 0; polls < 12; ++polls) {
      {
        // A connection that is there already, or that is to be opened.
        auto dropped = outcome_of(client.get("http://h/dropped"));
        rouse::testing::CountingWaker waker;
        Context cx(waker.waker());
        for (std::size_t i = 0; i < polls; ++i) {
          if (dropped.poll(cx).is_ready()) break;
          co_await let_others_run();
        }
      }
      EXPECT_EQ(co_await outcome_of(client.get("http://h/next")), "200 /next") << polls;
      EXPECT_LE(client.metrics().open, 1U);
    }
    EXPECT_EQ(client.metrics().waiting, 0U);
  });
}

/// Cuts a connection once so many bytes went through it, both ways together.
Async<void> serve_through_a_gate(io::DuplexStream end, std::shared_ptr<std::size_t> shared) {
  std::size_t& left = *shared;
  std::string request;
  for (;;) {
    char c = 0;
    const auto n = co_await end.read({&c, 1}).result();
    if (!n || *n == 0 || left-- == 0) break;
    request += c;
    if (!request.ends_with("\r\n\r\n")) continue;
    const std::string target = request.substr(4, request.find(' ', 4) - 4);
    std::string answer = ok(target);
    const bool is_cut = answer.size() > left;
    if (is_cut) answer.resize(left);
    left -= answer.size();
    const auto sent = co_await end.write_all(answer).result();
    if (is_cut || !sent) break;
    request.clear();
  }
}

TEST(HttpClientReuse, AConnectionCutAtAnyByteGivesNobodyAnotherOnesAnswer) {
  run_paused([]() -> Async<void> {
    for (std::size_t cut = 0; cut < 500; ++cut) {
      const auto left = std::make_shared<std::size_t>(cut);
      Script script([left](io::DuplexStream end, Seen&, int number) -> Async<void> {
        const auto unlimited = std::make_shared<std::size_t>(1'000'000);
        co_await serve_through_a_gate(std::move(end), number == 0 ? left : unlimited);
      });
      const Client client = script.client();
      for (const std::string target : {"/one", "/other", "/third"}) {
        const std::string outcome = co_await outcome_of(client.get("http://h" + target));
        EXPECT_TRUE(outcome == "200 " + target || outcome.starts_with("rouse.io: ")) << outcome;
      }
      EXPECT_EQ(co_await outcome_of(client.get("http://h/last")), "200 /last") << cut;
    }
  });
}

}  // namespace
}  // namespace rouse::http
