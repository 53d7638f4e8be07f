// The head of a request: what is understood, and what is refused.
#include "sight/http_request.hpp"

#include <optional>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace rouse::sight {
namespace {

using namespace std::string_literals;

HttpStatus status_of(std::string_view bytes) {
  const auto head = parse_http_head(bytes);
  return head ? head->status : HttpStatus::no_room;
}
HttpStatus with(const std::string& field) {
  return status_of("GET / HTTP/1.1\r\nHost: a\r\n" + field + "\r\n\r\n");
}

TEST(HttpRequest, ItsPartsAreTold) {
  const auto head = parse_http_head(
      "GET /dump?format=json HTTP/1.1\r\nhOST: \t localhost:80 \r\nORIGIN:x\r\n"
      "Authorization: Bearer abc\r\nAccept: */*\r\n\r\nGET /more");
  ASSERT_TRUE(head);
  EXPECT_EQ(head->status, HttpStatus::ok);
  EXPECT_FALSE(head->request.is_head);
  EXPECT_EQ(head->request.path, "/dump");
  EXPECT_EQ(head->request.query, "format=json");
  EXPECT_EQ(head->request.host, "localhost:80");
  EXPECT_EQ(head->request.origin, "x");
  EXPECT_EQ(head->request.authorization, "Bearer abc");
}

TEST(HttpRequest, WhatIsNotThereIsTold) {
  const auto head = parse_http_head("HEAD / HTTP/1.0\r\nHost:\r\n\r\n");
  ASSERT_TRUE(head);
  EXPECT_EQ(head->status, HttpStatus::ok);
  EXPECT_TRUE(head->request.is_head);
  EXPECT_EQ(head->request.path, "/");
  EXPECT_EQ(head->request.query, "");
  EXPECT_EQ(head->request.host, "");
  EXPECT_FALSE(head->request.origin);
  EXPECT_FALSE(head->request.authorization);
}

TEST(HttpRequest, IsNotCompleteBeforeItsEmptyLine) {
  const std::string whole = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
  for (std::size_t i = 0; i < whole.size(); ++i) {
    EXPECT_FALSE(parse_http_head(whole.substr(0, i))) << i;
  }
  EXPECT_TRUE(parse_http_head(whole));
}

TEST(HttpRequest, OtherMethodsAreRefused) {
  for (const char* const method : {"POST", "PUT", "DELETE", "OPTIONS", "CONNECT", "get", "GETS"}) {
    EXPECT_EQ(status_of(method + " / HTTP/1.1\r\nHost: a\r\n\r\n"s), HttpStatus::method_not_allowed)
        << method;
  }
}

TEST(HttpRequest, WrongRequestLinesAreRefused) {
  for (const std::string& line :
       {""s, "GET"s, "GET /"s, "GET  / HTTP/1.1"s, "GET / HTTP/1.1 "s, " GET / HTTP/1.1"s,
        "GET http://a/ HTTP/1.1"s, "GET * HTTP/1.1"s, "GET /\x01 HTTP/1.1"s, "GET /\xff HTTP/1.1"s,
        "GET /#x HTTP/1.1"s, "G\x7fT / HTTP/1.1"s, "GET / http/1.1"s, "GET / HTTP/1.11"s,
        "GET /\0 HTTP/1.1"s, "GET\t/\tHTTP/1.1"s}) {
    EXPECT_EQ(status_of(line + "\r\nHost: a\r\n\r\n"), HttpStatus::bad_request) << line;
  }
  for (const char* const version : {"HTTP/2.0", "HTTP/0.9", "HTTP/1.2"}) {
    EXPECT_EQ(status_of("GET / "s + version + "\r\nHost: a\r\n\r\n"),
              HttpStatus::version_not_supported);
  }
}

TEST(HttpRequest, WrongFieldsAreRefused) {
  for (const std::string& field :
       {"Host: b"s, "Origin: x\r\nOrigin: y"s, "Authorization: x\r\nauthorization: x"s, "x"s,
        ": x"s, "X : x"s, " X: x"s, "X: a\r\n b"s, "X: a\nY: b"s, "X: a\rb"s, "X: \0"s, "X: \x1b"s,
        "X\x80: a"s, "X: \x7f"s}) {
    EXPECT_EQ(with(field), HttpStatus::bad_request) << field;
  }
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\n\r\n"), HttpStatus::bad_request);
  EXPECT_EQ(with("X: \x80\xff"), HttpStatus::ok);
  EXPECT_EQ(with("X:"), HttpStatus::ok);
}

TEST(HttpRequest, BodiesAreRefused) {
  EXPECT_EQ(with("Content-Length: 1"), HttpStatus::body_not_allowed);
  EXPECT_EQ(with("content-length: 00"), HttpStatus::body_not_allowed);
  EXPECT_EQ(with("Transfer-Encoding: chunked"), HttpStatus::body_not_allowed);
  EXPECT_EQ(with("Content-Length: 0"), HttpStatus::ok);
}

TEST(HttpRequest, LinesThatEndInALineFeedAloneNeverEnd) {
  EXPECT_FALSE(parse_http_head("GET / HTTP/1.1\nHost: a\n\n"));
}

TEST(HttpRequest, ThatIsTooLongIsRefused) {
  const std::string head = "GET / HTTP/1.1\r\nHost: a\r\nX: ";
  const std::string fits = head + std::string(longest_http_head - head.size() - 4, 'x');
  EXPECT_EQ(status_of(fits + "\r\n\r\n"), HttpStatus::ok);
  EXPECT_EQ(status_of(fits + "x\r\n\r\n"), HttpStatus::head_too_large);
  EXPECT_FALSE(parse_http_head(fits));
  EXPECT_EQ(status_of(fits + "xxxx"), HttpStatus::head_too_large);
}

}  // namespace
}  // namespace rouse::sight
