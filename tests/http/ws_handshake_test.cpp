// The handshake of WebSocket: its parts, and what a server answers.
#include "http/ws_handshake.hpp"

#include <gtest/gtest.h>

#include "rouse/http/ws_upgrade.hpp"

#include "http/support.hpp"
#include "http/ws_support.hpp"
#include "http/ws_url.hpp"

namespace rouse::http::ws {
namespace {

// ----- what it is made of

TEST(WebSocketHandshake, ProvesThatTheKeyWasRead) {
  EXPECT_EQ(accept_of("dGhlIHNhbXBsZSBub25jZQ=="), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");  // RFC 6455
  const std::string key = make_key();
  EXPECT_TRUE(is_key(key));
  EXPECT_NE(key, make_key());
}

TEST(WebSocketHandshake, KnowsAKey) {
  EXPECT_TRUE(is_key("dGhlIHNhbXBsZSBub25jZQ=="));
  for (const char* wrong :
       {"", "dGhlIHNhbXBsZSBub25jZQ", "dGhlIHNhbXBsZSBub25jZQ=", "dGhlIHNhbXBsZSBub25jZR==",
        "dGhlIHNhbXBsZSBub25j!Q==", "dGhlIHNhbXBsZSBub25jZSBsb25n", "========================"}) {
    EXPECT_FALSE(is_key(wrong)) << wrong;
  }
}

TEST(WebSocketHandshake, ChoosesTheSubprotocolItLikesBest) {
  Headers offer;
  offer.add("Sec-WebSocket-Protocol", "v1, v2");
  offer.add("sec-websocket-protocol", " v3");
  const auto chosen = [&](std::vector<std::string> spoken) {
    return choose_protocol(offer, spoken);
  };
  EXPECT_EQ(chosen({"v2", "v1"}), "v2");
  EXPECT_EQ(chosen({"v4", "v3"}), "v3");
  EXPECT_EQ(chosen({"V1"}), "");  // the case matters
  EXPECT_EQ(chosen({}), "");
}

TEST(WebSocketHandshake, PagesOfTheSameHostMayConnect) {
  const auto may = [](std::string_view origin, std::string_view host) {
    Request request;
    request.headers().set("Host", host);
    request.headers().set("Origin", origin);
    return may_connect(request, UpgradeOptions());
  };
  EXPECT_TRUE(may("https://example.org", "example.org"));
  EXPECT_TRUE(may("https://example.org", "EXAMPLE.org:443"));
  EXPECT_TRUE(may("http://example.org:80", "example.org"));
  EXPECT_TRUE(may("http://example.org:8080", "example.org:8080"));
  EXPECT_TRUE(may("http://[::1]:8080", "[::1]:8080"));
  EXPECT_FALSE(may("https://example.org:80", "example.org"));
  EXPECT_FALSE(may("http://example.org:8080", "example.org"));
  EXPECT_FALSE(may("https://evil.org", "example.org"));
  EXPECT_FALSE(may("https://example.org.evil.org", "example.org"));
  EXPECT_FALSE(may("https://example.org@evil.org", "example.org"));
  EXPECT_FALSE(may("null", "example.org"));
  EXPECT_FALSE(may("", ""));

  Request twice;
  twice.headers().set("Host", "example.org");
  twice.headers().add("Origin", "https://example.org");
  twice.headers().add("Origin", "https://example.org");
  EXPECT_FALSE(may_connect(twice, UpgradeOptions()));
  EXPECT_TRUE(may_connect(Request(), UpgradeOptions()));  // no page
}

TEST(WebSocketHandshake, WhoElseMayConnectCanBeTold) {
  UpgradeOptions options;
  options.allows_origin = [](std::string_view origin, const Request&) {
    return origin == "https://friend.org";
  };
  Request request;
  request.headers().set("Host", "example.org");
  request.headers().set("Origin", "https://friend.org");
  EXPECT_TRUE(may_connect(request, options));
  request.headers().set("Origin", "https://example.org");
  EXPECT_FALSE(may_connect(request, options));
}

TEST(WebSocketHandshake, ReadsUrls) {
  const auto read = [](std::string_view text) {
    const auto url = parse_socket_url(text);
    if (!url) return std::string("none");
    return std::string(url->is_secure ? "s " : "") + url->host + " " + url->endpoint + " " +
           url->target;
  };
  EXPECT_EQ(read("ws://example.org"), "example.org example.org:80 /");
  EXPECT_EQ(read("WSS://example.org/a?b=c"), "s example.org example.org:443 /a?b=c");
  EXPECT_EQ(read("ws://example.org:8080?q"), "example.org:8080 example.org:8080 /?q");
  EXPECT_EQ(read("wss://example.org:443/"), "s example.org example.org:443 /");
  EXPECT_EQ(read("wss://example.org:80/"), "s example.org:80 example.org:80 /");
  EXPECT_EQ(read("ws://[::1]:90/a:b"), "[::1]:90 [::1]:90 /a:b");
  EXPECT_EQ(read("ws://[::1]"), "[::1] [::1]:80 /");
  EXPECT_EQ(read("ws://a:/"), "a a:80 /");
  for (const char* wrong :
       {"", "ws:", "http://a/", "ws:///a", "ws://", "ws://a:0/", "ws://a:65536/", "ws://a:1:2/",
        "ws://user@a/", "ws://a/#b", "ws://a/ b", "ws://a b/", "ws://a\r\n/", "ws://::1/",
        "ws://[]/", "ws://[::1/", "ws://a]/", "ws://[::1]a:80/", "ws://a/\x7F"}) {
    EXPECT_EQ(read(wrong), "none") << wrong;
  }
  EXPECT_EQ(read("ws://a/" + std::string(9000, 'x')), "none");
}

// ----- the server's answers

std::string asking(std::string_view first_line, std::string_view fields) {
  return std::string(first_line) + "\r\nHost: example.org\r\n" + std::string(fields) + "\r\n";
}
constexpr std::string_view get_chat = "GET /chat HTTP/1.1";
constexpr std::string_view connection = "Connection: keep-alive, Upgrade\r\nUpgrade: WebSocket\r\n";
constexpr std::string_view version = "Sec-WebSocket-Version: 13\r\n";
constexpr std::string_view key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";

std::string joined(std::initializer_list<std::string_view> parts) {
  std::string all;
  for (const std::string_view part : parts) all += part;
  return all;
}

TEST(WebSocketHandshake, AServerAcceptsARightRequest) {
  const std::string answer =
      answers(asking(get_chat, joined({connection, version, key})) +
                  masked_frame(text_frame, "at once") + masked_frame(close_frame, ""),
              chat_routes());
  EXPECT_EQ(answer,
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"
            "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\nConnection: Upgrade\r\n\r\n" +
                plain_frame(text_frame, "at once") + plain_frame(close_frame, ""));
}

TEST(WebSocketHandshake, AServerRefusesOtherRequestsAndSaysWhy) {
  struct Case {
    std::string request;
    std::string status;
    std::string field;
  };
  const std::string right = joined({connection, version, key});
  const Case cases[] = {
      {asking("POST /chat HTTP/1.1", joined({right, "Content-Length: 0\r\n"})), "405",
       "Allow: GET"},
      {asking("GET /chat HTTP/1.0", right), "426", "Upgrade: websocket"},
      {asking(get_chat, joined({version, key})), "426", "Upgrade: websocket"},
      {asking(get_chat, joined({"Connection: Upgrade\r\nUpgrade: h2c\r\n", version, key})), "426",
       "Upgrade: websocket"},
      {asking(get_chat, joined({"Connection: close\r\nUpgrade: websocket\r\n", version, key})),
       "426", "Upgrade: websocket"},
      {asking(get_chat, joined({connection, key})), "426", "Sec-WebSocket-Version: 13"},
      {asking(get_chat, joined({connection, "Sec-WebSocket-Version: 8\r\n", key})), "426",
       "Sec-WebSocket-Version: 13"},
      {asking(get_chat, joined({connection, version, version, key})), "426",
       "Sec-WebSocket-Version: 13"},
      {asking(get_chat, joined({connection, version})), "400", ""},
      {asking(get_chat, joined({connection, version, key, key})), "400", ""},
      {asking(get_chat, joined({connection, version, "Sec-WebSocket-Key: short\r\n"})), "400", ""},
      {asking(get_chat, joined({right, "Content-Length: 1\r\n"})) + "x", "400", ""},
      {asking(get_chat, joined({right, "Origin: https://evil.org\r\n"})), "403", ""},
  };
  for (const Case& wrong : cases) {
    const std::string answer = answers(wrong.request, chat_routes());
    EXPECT_EQ(answer.substr(9, 3), wrong.status) << wrong.request;
    EXPECT_NE(answer.find(wrong.field), std::string::npos) << answer;
    EXPECT_EQ(answer.find("Sec-WebSocket-Accept"), std::string::npos);
  }
}

TEST(WebSocketHandshake, ExtensionsAreNotAccepted) {
  const std::string answer =
      answers(asking(get_chat, joined({connection, version, key,
                                       "Sec-WebSocket-Extensions: permessage-deflate\r\n"})) +
                  masked_frame(close_frame, ""),
              chat_routes());
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 101"));
  EXPECT_EQ(answer.find("Extensions"), std::string::npos);
}

// ----- the client's judgement

Headers accepted() {
  Headers headers;
  headers.add("Upgrade", "websocket");
  headers.add("Connection", "Upgrade");
  headers.add("Sec-WebSocket-Accept", "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
  return headers;
}
std::optional<std::string> judged(Headers headers, Status status = Status::switching_protocols) {
  Head answer;
  answer.status = status;
  answer.headers = std::move(headers);
  const std::vector<std::string> offered{"v1", "v2"};
  return judge_answer(answer, "dGhlIHNhbXBsZSBub25jZQ==", offered);
}

TEST(WebSocketHandshake, AClientTakesOnlyARightAnswer) {
  EXPECT_EQ(judged(accepted()), "");
  EXPECT_FALSE(judged(accepted(), Status::ok));
  for (const char* name : {"Upgrade", "Connection", "Sec-WebSocket-Accept"}) {
    Headers headers = accepted();
    headers.remove(name);
    EXPECT_FALSE(judged(headers)) << name;
    headers.set(name, "other");
    EXPECT_FALSE(judged(headers)) << name;
  }
  Headers extended = accepted();
  extended.add("Sec-WebSocket-Extensions", "permessage-deflate");
  EXPECT_FALSE(judged(extended));
  Headers twice = accepted();
  twice.add("Sec-WebSocket-Accept", "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
  EXPECT_FALSE(judged(twice));
}

TEST(WebSocketHandshake, AClientTakesOnlyASubprotocolItOffered) {
  Headers headers = accepted();
  headers.set("Sec-WebSocket-Protocol", "v2");
  EXPECT_EQ(judged(headers), "v2");
  headers.set("Sec-WebSocket-Protocol", "v3");
  EXPECT_FALSE(judged(headers));
  headers.set("Sec-WebSocket-Protocol", "v1, v2");
  EXPECT_FALSE(judged(headers));
}

TEST(WebSocketHandshake, AClientSendsNoFieldTwice) {
  ConnectOptions options;
  options.protocols = {"v1", "v2"};
  options.headers.add("Sec-WebSocket-Key", "mine");
  options.headers.add("sec-websocket-extensions", "permessage-deflate");
  options.headers.add("Cookie", "a=b");
  const std::string head = write_handshake("example.org", "/chat", "thekey", options);
  EXPECT_EQ(head,
            "GET /chat HTTP/1.1\r\nHost: example.org\r\nCookie: a=b\r\nUpgrade: websocket\r\n"
            "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: thekey\r\n"
            "Sec-WebSocket-Protocol: v1, v2\r\nConnection: Upgrade\r\n\r\n");
}

}  // namespace
}  // namespace rouse::http::ws
