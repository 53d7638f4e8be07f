// http::Client: what is sent, and what becomes of the answer.
#include "rouse/http/client.hpp"

#include <chrono>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/io/bytes_reader.hpp"

#include "http/client_support.hpp"

namespace rouse::http {
namespace {

TEST(HttpClient, AsksAndReadsTheAnswer) {
  run_paused([]() -> Async<void> {
    Script script(
        Script::answering({"HTTP/1.1 201 Created\r\nX-Is: here\r\n"
                           "Content-Length: 5\r\n\r\nhello"}));
    const Client client = script.client();
    auto reply = co_await client.get("http://example.org:8080/a?b#c").header("X-Mine", "1").send();
    EXPECT_EQ(reply.status(), Status::created);
    EXPECT_EQ(reply.header("x-is"), "here");
    EXPECT_EQ(reply.url(), "http://example.org:8080/a?b");
    EXPECT_EQ(reply.length(), 5U);
    EXPECT_EQ(co_await reply.text(), "hello");
    EXPECT_EQ(script->hosts, std::vector<std::string>{"example.org:8080"});
    const std::string& request = script->requests.at(0);
    EXPECT_TRUE(request.starts_with("GET /a?b HTTP/1.1\r\nHost: example.org:8080\r\n")) << request;
    EXPECT_NE(request.find("X-Mine: 1\r\n"), std::string::npos);
    EXPECT_NE(request.find("User-Agent: rouse/"), std::string::npos);
    EXPECT_NE(request.find("Accept-Encoding: gzip, deflate"), std::string::npos);
    EXPECT_EQ(request.find("Content-Length"), std::string::npos);
  });
}

TEST(HttpClient, SendsABody) {
  run_paused([]() -> Async<void> {
    Script script(Script::answering({ok("")}));
    const Client client = script.client();
    EXPECT_EQ(co_await outcome_of(client.post("http://h/").body("some text")), "200 ");
    EXPECT_TRUE(script->requests.at(0).starts_with("POST / HTTP/1.1\r\n"));
    EXPECT_TRUE(script->requests.at(0).ends_with("Content-Length: 9\r\n\r\nsome text"));
    EXPECT_EQ(co_await outcome_of(client.post("http://h/")), "200 ");
    EXPECT_TRUE(script->requests.at(1).ends_with("Content-Length: 0\r\n\r\n"));
  });
}

TEST(HttpClient, StreamsABodyWithALengthOrInChunks) {
  run_paused([]() -> Async<void> {
    std::string seen;
    Script script([&](io::DuplexStream end, Seen&, int) -> Async<void> {
      std::string text;
      while (!text.ends_with("0\r\n\r\n") && !text.ends_with("xyz")) {
        char c = 0;
        const std::size_t n = co_await end.read({&c, 1});
        if (n == 0) break;
        text += c;
      }
      seen = text.substr(text.find("\r\n\r\n") + 4);
      co_await end.write_all(ok("done"));
    });
    const Client client = script.client();
    const std::string long_text = std::string(40'000, 'x') + "xyz";
    auto with_length = Body::stream(io::BytesReader(long_text), long_text.size());
    EXPECT_EQ(co_await outcome_of(client.put("http://h/").body(std::move(with_length))),
              "200 done");
    EXPECT_EQ(seen, long_text);
    auto without_length = Body::stream(io::BytesReader("abc"));
    EXPECT_EQ(co_await outcome_of(client.put("http://h/").body(std::move(without_length))),
              "200 done");
    EXPECT_EQ(seen, "3\r\nabc\r\n0\r\n\r\n");
  });
}

TEST(HttpClient, ABodyThatIsShorterThanItSaysIsAnError) {
  run_paused([]() -> Async<void> {
    Script script(Script::answering({ok("")}));
    const Client client = script.client();
    auto short_body = Body::stream(io::BytesReader("abc"), 5);
    EXPECT_EQ(co_await error_of(client.put("http://h/").body(std::move(short_body))),
              Error::wrong_length);
  });
}

TEST(HttpClient, AStatusIsNoErrorUntilYouSaySo) {
  run_paused([]() -> Async<void> {
    Script script(Script::answering({"HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\nno"}));
    const Client client = script.client();
    auto reply = co_await client.get("http://h/x").send();
    EXPECT_EQ(reply.status(), Status::not_found);
    try {
      reply.check();
      ADD_FAILURE() << "check() should have thrown";
    } catch (const StatusError& error) {
      EXPECT_EQ(error.status(), Status::not_found);
      EXPECT_STREQ(error.what(), "http://h/x: 404 Not Found");
    }
    EXPECT_EQ(co_await reply.text(), "no");
  });
}

TEST(HttpClient, SaysWhatIsWrongWithAUrl) {
  run_paused([]() -> Async<void> {
    Script script(Script::answering({ok("")}));
    const Client client = script.client();
    EXPECT_EQ(co_await error_of(client.get("example.org/x")), ClientError::bad_url);
    EXPECT_EQ(co_await error_of(client.get("http://h/" + std::string(9000, 'x'))),
              std::errc::invalid_argument);
    EXPECT_EQ(script->connections, 0);
    EXPECT_THROW((void)client.get("http://h/").header("A", "b\r\nC: d"), std::system_error);
  });
}

TEST(HttpClient, CredentialsGoIntoAHeader) {
  run_paused([]() -> Async<void> {
    Script script(Script::answering({ok("")}));
    const Client client = script.client();
    (void)co_await outcome_of(client.get("http://a:b@h/"));
    (void)co_await outcome_of(client.get("http://h/").basic_auth("a", "b"));
    (void)co_await outcome_of(client.get("http://h/").bearer_auth("token"));
    EXPECT_NE(script->requests.at(0).find("Authorization: Basic YTpi\r\n"), std::string::npos);
    EXPECT_NE(script->requests.at(1).find("Authorization: Basic YTpi\r\n"), std::string::npos);
    EXPECT_NE(script->requests.at(2).find("Authorization: Bearer token\r\n"), std::string::npos);
  });
}

/// Answers before it has read the request, then reads it.
TEST(HttpClient, GoesOnSendingWhileTheAnswerIsRead) {
  run_paused([]() -> Async<void> {
    const std::string sent(300'000, 'x');  // more than the pipe holds
    Script script([&](io::DuplexStream end, Seen&, int) -> Async<void> {
      co_await end.write_all("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
      std::size_t size = 0;
      std::vector<char> buf(10'000);
      while (size < sent.size()) size += co_await end.read(buf);
      co_await end.write_all("4\r\ndone\r\n0\r\n\r\n");
      co_await sleep(1s);
    });
    const Client client = script.client();
    EXPECT_EQ(co_await outcome_of(client.post("http://h/").body(sent)), "200 done");
    EXPECT_EQ(client.metrics().idle, 1U);
  });
}

TEST(HttpClient, AnEarlyErrorIsReadThoughTheRestIsNotWanted) {
  run_paused([]() -> Async<void> {
    Script script([&](io::DuplexStream end, Seen&, int) -> Async<void> {
      co_await end.write_all("HTTP/1.1 413 Content Too Large\r\nContent-Length: 4\r\n\r\nmuch");
    });
    const Client client = script.client();
    EXPECT_EQ(co_await outcome_of(client.post("http://h/").body(std::string(300'000, 'x'))),
              "413 much");
    EXPECT_EQ(client.metrics().idle, 0U) << "the server waits for the rest of the request";
  });
}

TEST(HttpClient, AHookSeesWhatBecomesOfEachRequest) {
  run_paused([]() -> Async<void> {
    Script script(Script::answering(
        {"HTTP/1.1 302 Found\r\nLocation: /to\r\nContent-Length: 0\r\n\r\n", ok("there"), ""}));
    std::vector<std::string> seen;
    const auto hook = [&](const RequestOutcome& outcome) {
      std::string text =
          std::string(name_of(outcome.method)) + ' ' + std::string(outcome.url) + ' ';
      text += outcome.status ? std::to_string(number_of(*outcome.status)) : outcome.error.message();
      seen.push_back(std::move(text));
    };
    const Client client = script.builder().on_request(hook).build();
    (void)co_await outcome_of(client.get("http://a:b@h/x"));
    (void)co_await outcome_of(client.post("http://h/"));
    auto never = [](net::Endpoint) -> AsyncResult<io::AnyConnection> {
      co_await sleep(1h);
      co_return std::errc::connection_refused;
    };
    const Client late = Client::builder().connector(never).on_request(hook).build();
    (void)co_await outcome_of(late.get("http://h/").timeout(1s));
    EXPECT_EQ(seen, (std::vector<std::string>{
                        "GET http://h/x 302", "GET http://h/to 200",
                        "POST http://h/ the stream ended in the midst of what was to be read",
                        "GET http://h/ Operation canceled"}));
  });
}

TEST(HttpClient, IsAHandle) {
  run_paused([]() -> Async<void> {
    Script script(Script::answering({ok("a")}));
    Client client = script.client();
    const Client other = client;
    EXPECT_EQ(co_await outcome_of(client.get("http://h/")), "200 a");
    client = Client(other);
    EXPECT_EQ(co_await outcome_of(other.get("http://h/")), "200 a");
    EXPECT_EQ(script->connections, 1);
    EXPECT_EQ(client.metrics().requests, 2U);
  });
}

TEST(HttpClientDeathTest, ARequestIsSentOnce) {
  run_paused([]() -> Async<void> {
    Script script(Script::answering({ok("")}));
    auto request = script.client().get("http://h/");
    co_await request.send();
    EXPECT_DEATH((void)request.send(), "make another one");
  });
}

}  // namespace
}  // namespace rouse::http
