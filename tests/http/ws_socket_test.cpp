// ws::Socket, both ends over a duplex.
#include "rouse/http/ws_socket.hpp"

#include <gtest/gtest.h>

#include "rouse/future/join.hpp"
#include "rouse/io/error.hpp"
#include "rouse/testing/drop_at_each_poll.hpp"
#include "rouse/testing/poll_harness.hpp"
#include "rouse/time/pause.hpp"
#include "rouse/time/timeout.hpp"

#include "http/support.hpp"
#include "http/ws_support.hpp"

namespace rouse::http::ws {
namespace {

using rouse::testing::drop_at_each_poll;
using rouse::testing::PollHarness;

/// All bytes until the end of the stream.
Async<std::string> rest_of(io::DuplexStream& stream) {
  std::string text;
  const auto all = co_await stream.read_to_end(text).result();
  static_cast<void>(all);
  co_return text;
}

TEST(WebSocket, EchoesTextsAndBytesOverStreamsOfAnyCapacity) {
  for (const std::size_t capacity : {1U, 7U, 1000U, 65536U}) {
    run_paused([capacity]() -> Async<void> {
      Ends ends(capacity);
      JoinHandle<void> echoing = spawn(echo(std::move(ends.server)));
      for (const std::size_t size : {0U, 1U, 125U, 126U, 3000U, 70'000U}) {
        const Message sent = size % 2 == 0 ? Message(std::string(size, 'x'))
                                           : Message::binary(std::string(size, '\xFF'));
        // Both at once: the echo comes while the message is still on its way.
        auto [done, received] = co_await join(ends.client.send(sent), ends.client.recv());
        static_cast<void>(done);
        EXPECT_TRUE(received == sent);
      }
      co_await ends.client.close();
      co_await echoing;
    });
  }
}

TEST(WebSocket, TellsBothSidesHowItWasClosed) {
  run_paused([]() -> Async<void> {
    Ends ends;
    JoinHandle<void> closing = spawn(
        [](Socket client) -> Async<void> {
          co_await client.close(CloseCode::going_away, "bye");
          const auto last = co_await client.recv();
          EXPECT_FALSE(last);
          EXPECT_EQ(client.peer_close().code, CloseCode::going_away);  // the answer
          co_await client.close();                                     // does no harm
        },
        std::move(ends.client));
    const auto nothing = co_await ends.server.recv();
    EXPECT_FALSE(nothing);
    EXPECT_EQ(ends.server.peer_close().code, CloseCode::going_away);
    EXPECT_EQ(ends.server.peer_close().reason, "bye");
    const Result<void> sent = co_await ends.server.send("too late").result();
    EXPECT_EQ(sent.error(), Error::closed);
    const auto again = co_await ends.server.recv();
    EXPECT_FALSE(again);
    ends.server = Ends().server;  // the client waits for the end of the stream
    co_await closing;
  });
}

TEST(WebSocket, AnEndWithoutACloseIsAnError) {
  run_paused([]() -> Async<void> {
    Hostile peer;
    co_await peer.client.write_all(masked_frame(text_frame, "one") + head(text_frame, 10, true));
    {
      const io::DuplexStream gone = std::move(peer.client);
    }
    const auto one = co_await peer.server.recv();
    EXPECT_EQ(one->text(), "one");
    const auto end = co_await peer.server.recv().result();
    EXPECT_EQ(end.error(), io::Error::unexpected_eof);
    const auto same = co_await peer.server.recv().result();
    EXPECT_EQ(same.error(), io::Error::unexpected_eof);
    const auto sent = co_await peer.server.send("x").result();
    EXPECT_EQ(sent.error(), io::Error::unexpected_eof);
  });
}

TEST(WebSocket, TellsAPeerThatBreaksARuleWhyItIsClosed) {
  struct Case {
    std::string bytes;
    Error error;
    unsigned code;
  };
  Limits limits;
  limits.max_message = 100;
  for (const Case& broken :
       {Case{plain_frame(text_frame, "x"), Error::bad_frame, 1002},
        Case{masked_frame(text_frame, "\xFF"), Error::bad_text, 1007},
        Case{masked_frame(text_frame, std::string(101, 'x')), Error::message_too_long, 1009}}) {
    run_paused([&]() -> Async<void> {
      Hostile peer(65536, limits);
      JoinHandle<std::string> said = spawn(
          [](io::DuplexStream client, std::string bytes) -> Async<std::string> {
            co_await client.write_all(bytes);
            std::string all = co_await rest_of(client);
            co_return all;
          },
          std::move(peer.client), broken.bytes);
      const auto end = co_await peer.server.recv().result();
      EXPECT_EQ(end.error(), broken.error);
      const std::string bytes = co_await said;
      EXPECT_EQ(bytes, plain_frame(close_frame, close_payload(broken.code)));
    });
  }
}

TEST(WebSocket, APeerThatGoesOnSendingAfterItsMistakeIsHeardForAWhileOnly) {
  run_paused([]() -> Async<void> {
    Hostile peer;
    JoinHandle<void> flooding = spawn(
        [](io::DuplexStream client) -> Async<void> {
          co_await client.write_all(plain_frame(text_frame, "not masked"));
          const std::string noise(1000, 'x');
          for (;;) {
            const Result<void> written = co_await client.write_all(noise).result();
            if (!written) co_return;
            co_await sleep(10ms);
          }
        },
        std::move(peer.client));
    const time::Instant before = time::now();
    const auto end = co_await peer.server.recv().result();
    EXPECT_EQ(end.error(), Error::bad_frame);
    EXPECT_GE(time::now() - before, 5s);
    EXPECT_LT(time::now() - before, 6s);
    peer.server = Hostile().server;
    co_await flooding;
  });
}

TEST(WebSocket, ADroppedRecvLosesNothing) {
  Runtime rt = Runtime::builder().current_thread().start_paused().build();
  const auto inside = rt.enter();
  const std::string bytes = masked_frame(0x01, "he") + masked_frame(ping_frame, "p") +
                            masked_frame(0x80, "llo") + masked_frame(text_frame, "next");
  std::optional<Hostile> peer;
  std::size_t sent = 0;
  const auto send_byte = [&] {
    if (sent == bytes.size()) return;
    PollHarness writing(peer->client.write_all(std::string_view(bytes).substr(sent++, 1)));
    ASSERT_TRUE(writing.poll().is_ready());
  };
  const auto report = drop_at_each_poll(
      [&] {
        peer.emplace();
        sent = 0;
        send_byte();
        return peer->server.recv();
      },
      [&](std::size_t) { send_byte(); },
      [&](std::size_t) {
        // If it was not ready, the message is still to come; else the next one is.
        while (sent < bytes.size()) send_byte();
        PollHarness receiving(peer->server.recv());
        auto polled = receiving.poll();
        ASSERT_TRUE(polled.is_ready());
        const auto message = std::move(polled).value();
        ASSERT_TRUE(message);
        EXPECT_TRUE(message->text() == "hello" || message->text() == "next");
      });
  EXPECT_FALSE(report.threw);
  EXPECT_GE(report.polls, 20U);
}

TEST(WebSocket, ADroppedSendWasSentWholeOrNotAtAll) {
  Runtime rt = Runtime::builder().current_thread().start_paused().build();
  const auto inside = rt.enter();
  std::optional<Ends> ends;
  std::string received;
  const auto receive = [&] {
    PollHarness receiving(ends->server.recv());
    auto polled = receiving.poll();
    if (polled.is_ready()) received += polled.value()->text() + ",";
  };
  const auto report = drop_at_each_poll(
      [&] {
        ends.emplace(3U);
        received.clear();
        return ends->client.send("first message");
      },
      [&](std::size_t) { receive(); },
      [&](std::size_t k) {
        PollHarness sending(ends->client.send("second"));
        while (sending.poll().is_pending()) receive();
        receive();
        EXPECT_EQ(received, k == 0 ? "second," : "first message,second,");
      });
  EXPECT_FALSE(report.threw);
  EXPECT_GE(report.polls, 5U);
}

TEST(WebSocket, ADroppedCloseMayBeFollowedByAnother) {
  Runtime rt = Runtime::builder().current_thread().start_paused().build();
  const auto inside = rt.enter();
  std::optional<Ends> ends;
  bool has_ended = false;
  const auto receive = [&] {
    if (has_ended) return;
    PollHarness receiving(ends->server.recv());
    auto polled = receiving.poll();
    if (polled.is_ready()) has_ended = !polled.value();
  };
  const auto report = drop_at_each_poll(
      [&] {
        ends.emplace(3U);
        has_ended = false;
        return ends->client.close();
      },
      [&](std::size_t) { receive(); },
      [&](std::size_t) {
        PollHarness closing(ends->client.close());
        for (int i = 0; i < 100 && closing.poll().is_pending(); ++i) receive();
        EXPECT_TRUE(has_ended);
      });
  EXPECT_FALSE(report.threw);
  EXPECT_GE(report.polls, 2U);
}

TEST(WebSocket, WhatADroppedSendHasBegunIsFinishedByRecv) {
  Runtime rt = Runtime::builder().current_thread().start_paused().build();
  const auto inside = rt.enter();
  Ends ends(3);
  {
    PollHarness sending(ends.client.send("a message"));
    EXPECT_TRUE(sending.poll().is_pending());
  }
  PollHarness receiving(ends.client.recv());
  PollHarness reading(ends.server.recv());
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE(receiving.poll().is_pending());
    auto polled = reading.poll();
    if (polled.is_pending()) continue;
    EXPECT_EQ(polled.value()->text(), "a message");
    return;
  }
  FAIL() << "it was not finished";
}

TEST(WebSocket, ATextThatIsNotUtf8IsRefusedAndNothingIsSent) {
  run_paused([]() -> Async<void> {
    Ends ends;
    const Result<void> sent = co_await ends.client.send("\xFF").result();
    EXPECT_EQ(sent.error(), Error::bad_text);
    co_await ends.client.send("good");
    const auto received = co_await ends.server.recv();
    EXPECT_EQ(received->text(), "good");
  });
}

TEST(WebSocket, ACloseThatMustNotBeSentIsRefused) {
  run_paused([]() -> Async<void> {
    Ends ends;
    const std::string long_reason(124, 'x');
    for (auto [code, reason] : {std::pair(CloseCode::none, std::string_view()),
                                std::pair(static_cast<CloseCode>(1006), std::string_view()),
                                std::pair(CloseCode::normal, std::string_view(long_reason)),
                                std::pair(CloseCode::normal, std::string_view("\xFF"))}) {
      const Result<void> closed = co_await ends.client.close(code, reason).result();
      EXPECT_EQ(closed.error(), std::errc::invalid_argument);
    }
    co_await ends.client.send("still open");
    const auto received = co_await ends.server.recv();
    EXPECT_EQ(received->text(), "still open");
  });
}

TEST(WebSocket, PingsASilentPeerAndFindsItDead) {
  run_paused([]() -> Async<void> {
    Hostile peer;
    JoinHandle<std::string> said = spawn(
        [](io::DuplexStream client) -> Async<std::string> {
          std::string all = co_await rest_of(client);
          co_return all;
        },
        std::move(peer.client));
    const time::Instant before = time::now();
    const auto end = co_await peer.server.recv().result();
    EXPECT_EQ(end.error(), Error::no_answer);
    EXPECT_EQ(end.error(), std::errc::timed_out);
    EXPECT_GE(time::now() - before, 60s);
    EXPECT_LT(time::now() - before, 61s);
    peer.server = Hostile().server;
    const std::string bytes = co_await said;
    EXPECT_EQ(bytes, plain_frame(ping_frame, ""));
  });
}

TEST(WebSocket, APeerThatAnswersPingsLives) {
  run_paused([]() -> Async<void> {
    Ends ends;
    JoinHandle<void> echoing = spawn(echo(std::move(ends.server)));
    JoinHandle<void> waiting = spawn(
        [](Socket client) -> Async<void> {
          const auto end = co_await client.recv();
          static_cast<void>(end);
        },
        std::move(ends.client));
    co_await sleep(1h);
    EXPECT_FALSE(echoing.is_finished());
    EXPECT_FALSE(waiting.is_finished());
    echoing.abort();
    waiting.abort();
  });
}

TEST(WebSocket, PingsAreOffIfTheyTakeForEver) {
  run_paused([]() -> Async<void> {
    Limits limits;
    limits.ping_interval = std::chrono::milliseconds::max();
    Hostile peer(65536, limits);
    const auto received = co_await timeout(1h, peer.server.recv()).result();
    EXPECT_EQ(received.error(), std::errc::timed_out);
  });
}

TEST(WebSocket, APeerThatReadsNothingIsFoundBySend) {
  run_paused([]() -> Async<void> {
    Ends ends(1000);
    const time::Instant before = time::now();
    const std::string text(5000, 'x');
    const Result<void> sent = co_await ends.server.send(text).result();
    EXPECT_EQ(sent.error(), Error::no_answer);
    EXPECT_GE(time::now() - before, 30s);
    EXPECT_LT(time::now() - before, 31s);
  });
}

TEST(WebSocket, ASlowPeerMayTakeLongerThanTheTimeWithoutProgress) {
  run_paused([]() -> Async<void> {
    Hostile peer(10);
    JoinHandle<void> reading = spawn(
        [](io::DuplexStream client) -> Async<void> {
          std::array<char, 10> some{};
          for (;;) {
            const std::size_t n = co_await client.read(some);
            if (n == 0) co_return;
            co_await sleep(20s);
          }
        },
        std::move(peer.client));
    const time::Instant before = time::now();
    const std::string text(98, 'x');
    co_await peer.server.send(text);
    EXPECT_GT(time::now() - before, 100s);
    reading.abort();
  });
}

TEST(WebSocket, ACloseThatIsNotAnsweredEndsAfterFiveSeconds) {
  run_paused([]() -> Async<void> {
    Hostile peer;
    const time::Instant before = time::now();
    const Result<void> closed = co_await peer.server.close().result();
    EXPECT_EQ(closed.error(), Error::no_answer);
    EXPECT_GE(time::now() - before, 5s);
    EXPECT_LT(time::now() - before, 6s);
    const auto end = co_await peer.server.recv().result();
    EXPECT_EQ(end.error(), Error::no_answer);
  });
}

TEST(WebSocket, WhileItClosesWhatStillComesIsThrownAway) {
  run_paused([]() -> Async<void> {
    Hostile peer;
    const std::string bytes = masked_frame(text_frame, "a") + masked_frame(ping_frame, "b") +
                              masked_frame(text_frame, "c") +
                              masked_frame(close_frame, close_payload(1000));
    co_await peer.client.write_all(bytes);
    co_await peer.server.close(CloseCode::normal, "enough");
    EXPECT_EQ(peer.server.peer_close().code, CloseCode::none);
    const auto end = co_await peer.server.recv();
    EXPECT_FALSE(end);
    EXPECT_EQ(peer.server.peer_close().code, CloseCode::normal);
    const std::string said = co_await rest_of(peer.client);
    EXPECT_EQ(said, plain_frame(close_frame, close_payload(1000, "enough")));
  });
}

TEST(WebSocket, AFloodOfPingsFromAPeerThatReadsNothingIsHarmless) {
  run_paused([]() -> Async<void> {
    Hostile peer(500);
    JoinHandle<void> receiving = spawn(
        [](Socket server) -> Async<void> {
          const auto last = co_await server.recv();
          EXPECT_EQ(last->text(), "done");
        },
        std::move(peer.server));
    for (int i = 0; i < 10'000; ++i) {
      co_await peer.client.write_all(masked_frame(ping_frame, std::string(125, 'p')));
    }
    co_await peer.client.write_all(masked_frame(text_frame, "done"));
    co_await receiving;
    const std::string said = co_await rest_of(peer.client);
    EXPECT_LT(said.size(), 2000U);
  });
}

TEST(WebSocket, ACloseEndsTheRecvOfAnotherTask) {
  run_paused([]() -> Async<void> {
    Ends ends;
    JoinHandle<void> echoing = spawn(echo(std::move(ends.server)));
    auto [reader, writer] = std::move(ends.client).split();
    JoinHandle<void> receiving = spawn(
        [](Receiver from) -> Async<void> {
          const auto end = co_await from.recv();
          EXPECT_FALSE(end);
        },
        std::move(reader));
    co_await yield_now();
    co_await writer.close();
    co_await receiving;
    co_await echoing;
  });
}

TEST(WebSocket, AnEndThatTheReceiverSeesEndsASendOfAnotherTask) {
  run_paused([]() -> Async<void> {
    Hostile peer(100);
    auto [reader, writer] = std::move(peer.server).split();
    JoinHandle<void> sending = spawn(
        [](Sender to) -> Async<void> {
          const Result<void> sent = co_await to.send(std::string(1000, 'x')).result();
          EXPECT_EQ(sent.error(), Error::bad_frame);
        },
        std::move(writer));
    co_await yield_now();
    co_await peer.client.write_all(plain_frame(text_frame, "not masked"));
    const auto end = co_await reader.recv().result();
    EXPECT_EQ(end.error(), Error::bad_frame);
    co_await sending;
  });
}

/// Sends numbered messages of all sizes, and closes.
Async<void> send_numbers(Sender to, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    std::string text = std::to_string(i);
    text.resize(text.size() + i % 997, 'x');
    co_await to.send(std::move(text));
  }
  co_await to.send("last");
}
Async<std::size_t> count_numbers(Receiver from) {
  for (std::size_t i = 0;; ++i) {
    const auto message = co_await from.recv();
    if (!message || message->text() == "last") co_return i;
    std::string expected = std::to_string(i);
    expected.resize(expected.size() + i % 997, 'x');
    if (message->text() != expected) co_return 0;
  }
}

TEST(WebSocket, BothWaysAtOnceOnManyThreads) {
  static constexpr std::size_t count = 3000;
  Runtime rt = Runtime::builder().worker_threads(4).build();
  rt.block_on([]() -> Async<void> {
    Ends ends(3000);
    auto [client_reader, client_writer] = std::move(ends.client).split();
    auto [server_reader, server_writer] = std::move(ends.server).split();
    auto sending = spawn(send_numbers(std::move(client_writer), count));
    auto answering = spawn(send_numbers(std::move(server_writer), count));
    auto receiving = spawn(count_numbers(std::move(client_reader)));
    auto reading = spawn(count_numbers(std::move(server_reader)));
    co_await sending;
    co_await answering;
    const std::size_t received = co_await receiving;
    const std::size_t read = co_await reading;
    EXPECT_EQ(received, count);
    EXPECT_EQ(read, count);
  }());
}

Async<void> say_and_close(Sender to) {
  for (const char* text : {"a", "b", "c"}) co_await to.send(text);
  co_await to.close(CloseCode::going_away, "enough");
}
Async<CloseCode> hear_to_the_end(Receiver from) {
  while (auto message = co_await from.recv()) {
  }
  co_return from.peer_close().code;
}

TEST(WebSocket, ACloseAndARecvOnTwoThreadsBothSeeTheEnd) {
  Runtime rt = Runtime::builder().worker_threads(4).build();
  rt.block_on([]() -> Async<void> {
    for (int i = 0; i < 200; ++i) {
      Ends ends(20);  // so that both have to wait for the stream, both ways
      JoinHandle<void> echoing = spawn(echo, std::move(ends.server));
      auto [reader, writer] = std::move(ends.client).split();
      auto hearing = spawn(hear_to_the_end, std::move(reader));
      co_await spawn(say_and_close, std::move(writer));
      const CloseCode answer = co_await hearing;
      EXPECT_EQ(answer, CloseCode::going_away);
      co_await echoing;
    }
  }());
}

}  // namespace
}  // namespace rouse::http::ws
