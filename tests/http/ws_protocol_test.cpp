// Protocol, without a stream: what comes of bytes, however they are cut.
#include "http/ws_protocol.hpp"

#include <gtest/gtest.h>

#include "http/ws_support.hpp"

namespace rouse::http::ws {
namespace {

constexpr std::size_t most = 1000;

/// What a protocol tells and says, as text.
class Transcript {
 public:
  explicit Transcript(Role role) : role_(role), protocol_(role, most) {}

  void feed(std::string_view bytes) {
    if (is_over_) return;
    ws::feed(protocol_, bytes, [this](Protocol::Event event) { note(event); });
  }
  /// What a client says is masked, each time in another way.
  std::string text() {
    const std::string output = take_output(protocol_);
    return text_ + "> " + (role_ == Role::server ? output : std::to_string(output.size()));
  }

 private:
  void note(Protocol::Event event) {
    if (event == Protocol::Event::message) {
      const Message message = protocol_.take_message();
      text_ += (message.is_text() ? "text " : "binary ") + message.text() + "\n";
    } else if (event == Protocol::Event::closed) {
      const Close& close = protocol_.peer_close();
      text_ += "closed " + std::to_string(static_cast<int>(close.code)) + " " + close.reason + "\n";
      is_over_ = true;
    } else {
      text_ += "failed " + std::to_string(static_cast<int>(protocol_.failure())) + "\n";
      is_over_ = true;
    }
  }

  const Role role_;
  Protocol protocol_;
  std::string text_;
  bool is_over_ = false;
};

std::string transcript(Role role, std::string_view first, std::string_view second = {}) {
  Transcript it(role);
  it.feed(first);
  it.feed(second);
  return it.text();
}

/// The same for all cuts into two, and byte by byte. A pong is for the latest ping, so how many
/// there are depends on the cuts: ping once.
std::string in_all_splits(Role role, const std::string& bytes) {
  std::string whole = transcript(role, bytes);
  for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
    EXPECT_EQ(transcript(role, bytes.substr(0, cut), bytes.substr(cut)), whole) << "cut at " << cut;
  }
  Transcript bytewise(role);
  for (const char c : bytes) bytewise.feed({&c, 1});
  EXPECT_EQ(bytewise.text(), whole);
  return whole;
}

std::string from_client(const std::string& bytes) { return in_all_splits(Role::server, bytes); }
std::string failed(Error error, unsigned code) {
  return "failed " + std::to_string(static_cast<int>(error)) + "\n> " +
         plain_frame(close_frame, close_payload(code));
}
std::string bad_frame() { return failed(Error::bad_frame, 1002); }
std::string bad_text() { return failed(Error::bad_text, 1007); }
std::string too_long() { return failed(Error::message_too_long, 1009); }

TEST(WebSocketProtocol, GivesMessagesHoweverTheyAreCut) {
  EXPECT_EQ(from_client(masked_frame(text_frame, "hello") + masked_frame(binary_frame, "\xFF\xFE") +
                        masked_frame(text_frame, "")),
            "text hello\nbinary \xFF\xFE\ntext \n> ");
  EXPECT_EQ(in_all_splits(Role::client, plain_frame(text_frame, "hello") + plain_frame(0x82, "")),
            "text hello\nbinary \n> 0");
}

TEST(WebSocketProtocol, KnowsAllThreeKindsOfLengths) {
  for (const std::size_t size : {125U, 126U, 127U, 999U, 1000U}) {
    const std::string payload(size, 'x');
    EXPECT_EQ(transcript(Role::server, masked_frame(text_frame, payload)),
              "text " + payload + "\n> ");
  }
  Protocol wide(Role::server, std::size_t{1} << 20U);
  const std::string payload(70'000, 'x');
  std::size_t messages = 0;
  feed(wide, masked_frame(binary_frame, payload), [&](Protocol::Event event) {
    EXPECT_EQ(event, Protocol::Event::message);
    EXPECT_TRUE(wide.take_message() == Message::binary(payload));
    ++messages;
  });
  EXPECT_EQ(messages, 1U);
}

TEST(WebSocketProtocol, PutsFragmentsTogetherWithControlFramesBetweenThem) {
  EXPECT_EQ(from_client(masked_frame(0x01, "he") + masked_frame(pong_frame, "unasked") +
                        masked_frame(0x00, "") + masked_frame(ping_frame, "are you there") +
                        masked_frame(0x80, "llo")),
            "text hello\n> " + plain_frame(pong_frame, "are you there"));
}

TEST(WebSocketProtocol, AnswersTheLatestOfManyPings) {
  std::string pings;
  for (int i = 0; i < 100; ++i) pings += masked_frame(ping_frame, std::to_string(i));
  EXPECT_EQ(transcript(Role::server, pings), "> " + plain_frame(pong_frame, "99"));
}

TEST(WebSocketProtocol, AFloodOfPingsMakesNothingGrowWhileNothingIsWritten) {
  Protocol protocol(Role::server, most);
  for (int i = 0; i < 100'000; ++i) {
    feed(protocol, masked_frame(ping_frame, std::string(125, 'p')),
         [](Protocol::Event) { FAIL(); });
    static_cast<void>(protocol.output());  // it was looked at, and could not be written
  }
  EXPECT_LE(protocol.output_size(), std::size_t{65} * 1024);
}

TEST(WebSocketProtocol, TextIsUtf8EvenWhereFragmentsCutCharacters) {
  EXPECT_EQ(from_client(masked_frame(0x01, "\xE2\x82") + masked_frame(0x80,
                                                                      "\xAC"
                                                                      "5")),
            "text \xE2\x82\xAC"
            "5\n> ");
  for (const char* wrong : {"\x80", "\xC0\x80", "\xC1\xBF", "\xE0\x9F\xBF", "\xED\xA0\x80",
                            "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF",
                            "\xE2\x82", "abcdefghijk\xC3(", "\xC3\xA4\xC3"}) {
    EXPECT_EQ(from_client(masked_frame(text_frame, wrong)), bad_text()) << wrong;
    EXPECT_EQ(from_client(masked_frame(binary_frame, wrong)),
              "binary " + std::string(wrong) + "\n> ");
  }
  for (const char* right : {"\x7F", "\xC2\x80", "\xE0\xA0\x80", "\xED\x9F\xBF", "\xEE\x80\x80",
                            "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF"}) {
    EXPECT_EQ(from_client(masked_frame(text_frame, right)), "text " + std::string(right) + "\n> ");
  }
}

TEST(WebSocketProtocol, WrongTextIsFoundBeforeItsMessageIsWhole) {
  Protocol protocol(Role::server, most);
  bool has_failed = false;
  feed(protocol, head(0x01, 900, true) + masked("abc\xFF"),
       [&](Protocol::Event event) { has_failed = event == Protocol::Event::failed; });
  EXPECT_TRUE(has_failed);
}

TEST(WebSocketProtocol, FramesOutOfOrderAreRefused) {
  EXPECT_EQ(from_client(masked_frame(0x80, "nothing before")), bad_frame());
  EXPECT_EQ(from_client(masked_frame(0x01, "a") + masked_frame(0x81, "b")), bad_frame());
  EXPECT_EQ(from_client(masked_frame(0x02, "a") + masked_frame(0x02, "b")), bad_frame());
}

TEST(WebSocketProtocol, FramesThatMustNotBeAreRefused) {
  for (const unsigned reserved : {0xC1U, 0xA1U, 0x91U, 0xC9U}) {
    EXPECT_EQ(from_client(masked_frame(reserved, "")), bad_frame());
  }
  for (const unsigned opcode : {3U, 4U, 5U, 6U, 7U, 11U, 12U, 13U, 14U, 15U}) {
    EXPECT_EQ(from_client(masked_frame(final_frame | opcode, "x")), bad_frame()) << opcode;
  }
  EXPECT_EQ(from_client(masked_frame(0x09, "a ping in parts")), bad_frame());
  EXPECT_EQ(from_client(masked_frame(ping_frame, std::string(126, 'x'))), bad_frame());
}

TEST(WebSocketProtocol, LengthsThatAreNotTheShortestAreRefused) {
  const std::string mask("\x12\x34\x56\x78");
  EXPECT_EQ(from_client(std::string("\x81\xFE\x00\x05", 4) + mask + "hello"), bad_frame());
  EXPECT_EQ(
      from_client(std::string("\x81\xFF\x00\x00\x00\x00\x00\x00\x00\x7F", 10) + mask + "hello"),
      bad_frame());
  EXPECT_EQ(
      from_client(std::string("\x81\xFF\x80\x00\x00\x00\x00\x00\x00\x00", 10) + mask + "hello"),
      bad_frame());
}

TEST(WebSocketProtocol, ClientsMaskAndServersDont) {
  EXPECT_EQ(from_client(plain_frame(text_frame, "hello")), bad_frame());
  EXPECT_EQ(in_all_splits(Role::client, masked_frame(text_frame, "h")), "failed 1\n> 8");
}

TEST(WebSocketProtocol, MessagesThatAreTooLongAreRefusedAlsoInFragments) {
  EXPECT_EQ(from_client(masked_frame(text_frame, std::string(1001, 'x'))), too_long());
  std::string fragments = masked_frame(0x02, std::string(600, 'x'));
  for (int i = 0; i < 3; ++i) fragments += masked_frame(0x00, std::string(200, 'y'));
  EXPECT_EQ(transcript(Role::server, fragments), too_long());
  // What is only announced is not waited for.
  EXPECT_EQ(transcript(Role::server, head(text_frame, std::uint64_t{1} << 62U, true) + "x"),
            too_long());
}

TEST(WebSocketProtocol, ACloseIsAnsweredWithItsCode) {
  EXPECT_EQ(from_client(masked_frame(close_frame, close_payload(1000, "bye \xE2\x82\xAC bye")) +
                        "whatever comes behind it"),
            "closed 1000 bye \xE2\x82\xAC bye\n> " + plain_frame(close_frame, close_payload(1000)));
  EXPECT_EQ(from_client(masked_frame(close_frame, "")),
            "closed 1005 \n> " + plain_frame(close_frame, ""));
  for (const unsigned code :
       {1001U, 1002U, 1003U, 1007U, 1011U, 1014U, 3000U, 3999U, 4000U, 4999U}) {
    EXPECT_TRUE(from_client(masked_frame(close_frame, close_payload(code))).starts_with("closed"));
  }
}

TEST(WebSocketProtocol, ClosesThatMustNotBeAreRefused) {
  for (const unsigned code :
       {0U, 999U, 1004U, 1005U, 1006U, 1015U, 1016U, 1100U, 2000U, 2999U, 5000U, 65535U}) {
    EXPECT_EQ(from_client(masked_frame(close_frame, close_payload(code))), bad_frame()) << code;
  }
  EXPECT_EQ(from_client(masked_frame(close_frame, "x")), bad_frame());
  EXPECT_EQ(from_client(masked_frame(close_frame, close_payload(1000, "\xE2\x82"))), bad_text());
  EXPECT_EQ(from_client(masked_frame(close_frame, close_payload(1000, std::string(124, 'x')))),
            bad_frame());
}

TEST(WebSocketProtocol, NothingIsSentBehindAClose) {
  Protocol protocol(Role::server, most);
  feed(protocol, masked_frame(ping_frame, "x"), [](Protocol::Event) { FAIL(); });
  protocol.close(CloseCode::going_away, "later");
  protocol.close(CloseCode::normal, "");
  protocol.ping();
  EXPECT_TRUE(protocol.is_closing());
  EXPECT_EQ(take_output(protocol), plain_frame(close_frame, close_payload(1001, "later")));
  // The peer answers: that is the end, and no second close.
  bool is_closed = false;
  feed(protocol, masked_frame(close_frame, close_payload(1001)),
       [&](Protocol::Event event) { is_closed = event == Protocol::Event::closed; });
  EXPECT_TRUE(is_closed);
  EXPECT_EQ(take_output(protocol), "");
}

TEST(WebSocketProtocol, WhatOneSideWritesTheOtherReads) {
  Protocol client(Role::client, std::size_t{1} << 20U);
  Protocol server(Role::server, std::size_t{1} << 20U);
  for (const std::size_t size : {0U, 1U, 3U, 125U, 126U, 5000U, 65535U, 65536U, 200'000U}) {
    const Message sent = Message::binary(std::string(size, '\xA5'));
    for (auto [from, to] : {std::pair(&client, &server), std::pair(&server, &client)}) {
      from->send(sent);
      std::size_t messages = 0;
      Protocol& reader = *to;
      feed(reader, take_output(*from), [&](Protocol::Event event) {
        ASSERT_EQ(event, Protocol::Event::message);
        EXPECT_TRUE(reader.take_message() == sent);
        ++messages;
      });
      EXPECT_EQ(messages, 1U);
    }
  }
}

TEST(WebSocketProtocol, MasksDifferFromFrameToFrame) {
  Protocol client(Role::client, most);
  std::string last_mask;
  for (int i = 0; i < 100; ++i) {
    client.send("hello");
    const std::string frame = take_output(client);
    ASSERT_EQ(frame.size(), 11U);
    EXPECT_EQ(static_cast<unsigned char>(frame[1]), 0x85);
    EXPECT_NE(frame.substr(2, 4), last_mask);
    last_mask = frame.substr(2, 4);
  }
}

TEST(WebSocketProtocol, OutputMayBeWrittenInPiecesWhileMoreIsAdded) {
  Protocol server(Role::server, most);
  std::string expected;
  std::string written;
  for (int i = 0; i < 300; ++i) {
    const std::string text(static_cast<std::size_t>(i), 'x');
    server.send(text);
    expected += plain_frame(text_frame, text);
    const auto output = server.output();
    const std::size_t n = std::min<std::size_t>(output.size(), 100);
    written.append(reinterpret_cast<const char*>(output.data()), n);
    server.written(n);
  }
  EXPECT_TRUE(written + take_output(server) == expected);
}

}  // namespace
}  // namespace rouse::http::ws
