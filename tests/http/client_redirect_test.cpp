// Where the client follows redirects to, and what it takes along.
#include <cstddef>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/io/bytes_reader.hpp"

#include "http/client_support.hpp"

namespace rouse::http {
namespace {

std::string redirect(int status, const std::string& location, std::string_view body = "") {
  return "HTTP/1.1 " + std::to_string(status) + " Moved\r\nLocation: " + location +
         "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + std::string(body);
}

TEST(HttpClientRedirects, AreFollowed) {
  run_paused([]() -> Async<void> {
    Script script(Script::answering({redirect(302, "/b", "go there"), redirect(301, "c?d#e"),
                                     redirect(307, "http://i:81/z"), ok("there")}));
    const Client client = script.client();
    auto reply = co_await client.get("http://h/a/x").send();
    EXPECT_EQ(reply.url(), "http://i:81/z");
    EXPECT_EQ(co_await reply.text(), "there");
    EXPECT_TRUE(script->requests.at(1).starts_with("GET /b "));
    EXPECT_TRUE(script->requests.at(2).starts_with("GET /c?d "));
    EXPECT_TRUE(script->requests.at(3).starts_with("GET /z HTTP/1.1\r\nHost: i:81\r\n"));
    EXPECT_EQ(script->connections, 2) << "the first one served three";
    EXPECT_EQ(client.metrics().redirects, 3U);
  });
}

TEST(HttpClientRedirects, HaveABound) {
  run_paused([]() -> Async<void> {
    Script script(Script::answering({redirect(302, "/again")}));
    EXPECT_EQ(co_await error_of(script.client().get("http://h/")), ClientError::too_many_redirects);
    EXPECT_EQ(script->requests.size(), 11U);
    const Client none = script.builder().max_redirects(0).build();
    EXPECT_EQ(co_await outcome_of(none.get("http://h/")), "302 ");
  });
}

/// The requests that a redirect with this status makes of one.
Async<std::vector<std::string>> redirected(int status, Method method, std::string body) {
  Script script(Script::answering({redirect(status, "/to"), ok("")}));
  const Client client = script.client();
  auto request = client.request(method, "http://h/").header("Content-Type", "x/y");
  request.body(std::move(body));
  EXPECT_EQ(co_await outcome_of(std::move(request)), "200 ");
  co_return script->requests;
}

TEST(HttpClientRedirects, ChangeTheMethodAsBrowsersDo) {
  run_paused([]() -> Async<void> {
    for (const int status : {301, 302, 303}) {
      const auto requests = co_await redirected(status, Method::post, "data");
      EXPECT_TRUE(requests.at(1).starts_with("GET /to ")) << status;
      EXPECT_TRUE(requests.at(1).ends_with("\r\n\r\n"));
      EXPECT_EQ(requests.at(1).find("Content-"), std::string::npos);
    }
    for (const int status : {307, 308}) {
      const auto requests = co_await redirected(status, Method::post, "data");
      EXPECT_TRUE(requests.at(1).starts_with("POST /to ")) << status;
      EXPECT_TRUE(requests.at(1).ends_with("Content-Length: 4\r\n\r\ndata"));
      EXPECT_NE(requests.at(1).find("Content-Type: x/y"), std::string::npos);
    }
    EXPECT_TRUE((co_await redirected(301, Method::put, "x")).at(1).starts_with("PUT /to "));
    EXPECT_TRUE((co_await redirected(303, Method::put, "x")).at(1).starts_with("GET /to "));
    EXPECT_TRUE((co_await redirected(303, Method::head, "")).at(1).starts_with("HEAD /to "));
  });
}

TEST(HttpClientRedirects, ABodyThatIsAStreamIsNotSentTwice) {
  run_paused([]() -> Async<void> {
    Script script(Script::answering({redirect(307, "/to"), ok("")}));
    const Client client = script.client();
    auto body = Body::stream(io::BytesReader("x"), 1);
    EXPECT_EQ(co_await error_of(client.post("http://h/").body(std::move(body))),
              ClientError::unrepeatable_body);
  });
}

TEST(HttpClientRedirects, CredentialsStayWithTheirOrigin) {
  run_paused([]() -> Async<void> {
    for (const std::string elsewhere : {"http://i/", "http://h:81/", "//h.i/"}) {
      Script script(Script::answering({redirect(302, "/same"), redirect(302, elsewhere), ok("")}));
      const Client client = script.client();
      EXPECT_EQ(co_await outcome_of(client.get("http://h/")
                                        .bearer_auth("secret")
                                        .header("Cookie", "secret")
                                        .header("X-Other", "kept")),
                "200 ");
      EXPECT_NE(script->requests.at(1).find("secret"), std::string::npos);
      EXPECT_EQ(script->requests.at(2).find("secret"), std::string::npos) << elsewhere;
      EXPECT_NE(script->requests.at(2).find("X-Other: kept"), std::string::npos);
    }
    Script script(Script::answering({redirect(302, "/same"), redirect(302, "http://i/"), ok("")}));
    EXPECT_EQ(co_await outcome_of(script.client().get("http://a:b@h/")), "200 ");
    EXPECT_NE(script->requests.at(1).find("Authorization"), std::string::npos);
    EXPECT_EQ(script->requests.at(2).find("Authorization"), std::string::npos);
  });
}

TEST(HttpClientRedirects, SoDoThoseOfTheBuilder) {
  run_paused([]() -> Async<void> {
    for (const std::string elsewhere : {"http://i/", "http://h:81/", "//h.i/"}) {
      Script script(Script::answering({redirect(302, "/same"), redirect(302, elsewhere), ok("")}));
      const Client client = script.builder()
                                .header("Authorization", "secret")
                                .header("Cookie", "secret")
                                .header("Host", "virtual")
                                .header("X-Other", "kept")
                                .build();
      EXPECT_EQ(co_await outcome_of(client.get("http://h/")), "200 ");
      for (const std::size_t own : {0U, 1U}) {
        EXPECT_NE(script->requests.at(own).find("Authorization: secret"), std::string::npos);
        EXPECT_NE(script->requests.at(own).find("Cookie: secret"), std::string::npos);
        EXPECT_NE(script->requests.at(own).find("Host: virtual"), std::string::npos);
      }
      EXPECT_EQ(script->requests.at(2).find("secret"), std::string::npos) << elsewhere;
      EXPECT_EQ(script->requests.at(2).find("virtual"), std::string::npos) << elsewhere;
      EXPECT_NE(script->requests.at(2).find("X-Other: kept"), std::string::npos);
      EXPECT_NE(script->requests.at(2).find("User-Agent: "), std::string::npos);
    }
  });
}

TEST(HttpClientRedirects, OneThatIsNoneIsAnAnswer) {
  run_paused([]() -> Async<void> {
    Script script(Script::answering({"HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n",
                                     "HTTP/1.1 300 Choose\r\nLocation: /x\r\n"
                                     "Content-Length: 0\r\n\r\n",
                                     redirect(302, "ftp://h/")}));
    const Client client = script.client();
    EXPECT_EQ(co_await outcome_of(client.get("http://h/")), "302 ");
    EXPECT_EQ(co_await outcome_of(client.get("http://h/")), "300 ");
    EXPECT_EQ(co_await error_of(client.get("http://h/")), ClientError::bad_url);
  });
}

}  // namespace
}  // namespace rouse::http
