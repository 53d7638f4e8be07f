// What two programs in a row might read differently is refused, through a whole connection: what
// comes behind it is never answered.
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "http/support.hpp"

namespace rouse::http {
namespace {

using namespace std::string_literals;

struct Case {
  std::string name;
  std::string bytes;
  std::string status = "400";
};

/// A request that must not be answered after one that is refused.
const std::string smuggled = "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n";

std::vector<Case> refused() {
  const std::string post = "POST / HTTP/1.1\r\nHost: a\r\n";
  const std::string chunked = post + "Transfer-Encoding: chunked\r\n\r\n";
  const std::string get = "GET / HTTP/1.1\r\nHost: a\r\n";
  return {
      {"length, then coding",
       post + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
      {"coding, then length",
       post + "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n"},
      {"two lengths", post + "Content-Length: 3\r\nContent-Length: 4\r\n\r\nabc"},
      {"two equal lengths", post + "Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc"},
      {"a list of lengths", post + "Content-Length: 3, 3\r\n\r\nabc"},
      {"a signed length", post + "Content-Length: +3\r\n\r\nabc"},
      {"a negative length", post + "Content-Length: -3\r\n\r\nabc"},
      {"a hexadecimal length", post + "Content-Length: 0x3\r\n\r\nabc"},
      {"an empty length", post + "Content-Length: \r\n\r\nabc"},
      {"a length with a space", post + "Content-Length: 1 0\r\n\r\nabc"},
      {"an immense length", post + "Content-Length: 99999999999999999999\r\n\r\nabc"},
      {"a coding in 1.0", "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
      {"another coding", post + "Transfer-Encoding: gzip\r\n\r\n", "*"},
      {"a coding before chunked", post + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
       "501"},
      {"a coding behind chunked", post + "Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
       "*"},
      {"chunked twice", post + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
       "*"},
      {"something like chunked", post + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n", "*"},
      {"chunked behind a vertical tab", post + "Transfer-Encoding: \vchunked\r\n\r\n0\r\n\r\n",
       "*"},
      {"a space before the colon", post + "Content-Length : 3\r\n\r\nabc"},
      {"a space before the name", "GET / HTTP/1.1\r\n Host: a\r\n\r\n"},
      {"a folded line", get + "X: a\r\n b\r\n\r\n"},
      {"a folded line with a tab", get + "X: a\r\n\tb\r\n\r\n"},
      {"a bare line feed", "GET / HTTP/1.1\nHost: a\n\n"},
      {"a bare line feed behind HTTP/1.0", "GET / HTTP/1.0\nHost: a\n\n"},
      {"a bare carriage return behind the version", "GET / HTTP/1.1\rHost: a\r\n\r\n"},
      {"something behind the version", "GET / HTTP/1.1 x\r\nHost: a\r\n\r\n"},
      {"a longer version", "GET / HTTP/1.10\r\nHost: a\r\n\r\n"},
      {"another version that ends in a line feed", "GET / HTTP/1.2\nHost: a\n\n", "505"},
      {"a bare line feed in the fields", get + "X: a\nY: b\r\n\r\n"},
      {"a bare line feed at the end", "GET / HTTP/1.1\r\nHost: a\r\n\n"},
      {"a bare carriage return", get + "X: a\rY: b\r\n\r\n"},
      {"a NUL in a value", get + "X: a\0b\r\n\r\n"s},
      {"a NUL in a name", get + "X\0Y: b\r\n\r\n"s},
      {"a control character in a value", get + "X: a\x01"
                                               "b\r\n\r\n"},
      {"a field without a colon", get + "nothing\r\n\r\n"},
      {"a field without a name", get + ": a\r\n\r\n"},
      {"a name that is no token", get + "X(Y): a\r\n\r\n"},
      {"no host", "GET / HTTP/1.1\r\n\r\n"},
      {"two hosts", get + "Host: b\r\n\r\n"},
      {"a host that is a path", "GET / HTTP/1.1\r\nHost: a/b\r\n\r\n"},
      {"a host with a user", "GET / HTTP/1.1\r\nHost: b@a\r\n\r\n"},
      {"another host in the target", "GET http://b/ HTTP/1.1\r\nHost: a\r\n\r\n"},
      {"a space in the target", "GET /a b HTTP/1.1\r\nHost: a\r\n\r\n"},
      {"a tab in the target", "GET /a\tb HTTP/1.1\r\nHost: a\r\n\r\n"},
      {"a fragment", "GET /a#b HTTP/1.1\r\nHost: a\r\n\r\n"},
      {"no path", "GET a HTTP/1.1\r\nHost: a\r\n\r\n"},
      {"no version", "GET /\r\nHost: a\r\n\r\n", "*"},
      {"HTTP/0.9", "GET / HTTP/0.9\r\nHost: a\r\n\r\n", "505"},
      {"HTTP/1.2", "GET / HTTP/1.2\r\nHost: a\r\n\r\n", "505"},
      {"HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "*"},
      {"a small http", "GET / http/1.1\r\nHost: a\r\n\r\n"},
      {"RTSP", "DESCRIBE / RTSP/1.0\r\nHost: a\r\n\r\n"},
      {"a method in small letters", "get / HTTP/1.1\r\nHost: a\r\n\r\n"},
      {"a method that is not known", "PROPFIND / HTTP/1.1\r\nHost: a\r\n\r\n", "501"},
      {"another expectation", post + "Expect: 200-ok\r\nContent-Length: 1\r\n\r\nx", "417"},
      {"a chunk size that is none", chunked + "g\r\n\r\n"},
      {"an empty chunk size", chunked + "\r\nabc\r\n0\r\n\r\n"},
      {"a negative chunk size", chunked + "-1\r\n\r\n"},
      {"a chunk size with 0x", chunked + "0x3\r\nabc\r\n0\r\n\r\n"},
      {"a chunk size with a space", chunked + "3 \r\nabc\r\n0\r\n\r\n"},
      {"an immense chunk size", chunked + "fffffffffffffffff\r\nabc\r\n0\r\n\r\n"},
      {"a chunk that is longer than it says", chunked + "3\r\nabcd\r\n0\r\n\r\n"},
      {"a bare line feed behind a chunk size", chunked + "3\nabc\r\n0\r\n\r\n"},
      {"a bare line feed behind a chunk", chunked + "3\r\nabc\n0\r\n\r\n"},
      {"a bare carriage return behind a chunk size", chunked + "3\rXabc\r\n0\r\n\r\n"},
      {"a NUL in a chunk extension", chunked + "3;a\0b\r\nabc\r\n0\r\n\r\n"s},
      {"a bare line feed in a chunk extension", chunked + "3;a\nb\r\nabc\r\n0\r\n\r\n"},
      {"too many chunk extensions",
       chunked + "3;" + std::string(5000, 'a') + "\r\nabc\r\n0\r\n\r\n"},
      {"a bare line feed behind the last chunk", chunked + "0\n\n"},
      {"a trailer that would frame", chunked + "0\r\nContent-Length: 5\r\n\r\n"},
      {"a folded trailer", chunked + "0\r\nX: a\r\n b\r\n\r\n"},
      {"a long target", "GET /" + std::string(9000, 'a') + " HTTP/1.1\r\nHost: a\r\n\r\n", "414"},
      {"a long head", get + "X: " + std::string(40'000, 'a') + "\r\n\r\n", "431"},
      {"an endless name", get + std::string(40'000, 'a'), "431"},
      {"empty lines for ever", std::string(40'000, '\n'), "*"},
  };
}

Async<Response> read_and_tell(Request& request) {
  (void)co_await request.body().text();
  co_return Response::text("answered " + request.path());
}

TEST(HttpFraming, WhatMightBeReadInTwoWaysIsRefusedAndNothingBehindItIsAnswered) {
  for (const Case& each : refused()) {
    for (const std::size_t capacity : {std::size_t{65536}, std::size_t{3}}) {
      const std::string text =
          answers(each.bytes + smuggled, read_and_tell, ServerOptions(), capacity);
      EXPECT_TRUE(
          text.starts_with("HTTP/1.1 " + (each.status == "*" ? std::string() : each.status)))
          << each.name << ": " << text.substr(0, 200);
      EXPECT_GE(text.size() > 9 ? text[9] : '0', '4') << each.name << ": " << text.substr(0, 200);
      EXPECT_EQ(count_of(text, "HTTP/1.1 "), 1U) << each.name << ": " << text;
      EXPECT_EQ(count_of(text, "answered"), 0U) << each.name;
      EXPECT_EQ(count_of(text, "Connection: close\r\n"), 1U) << each.name;
    }
  }
}

TEST(HttpFraming, WhatIsOddButClearIsUnderstood) {
  const std::vector<Case> understood = {
      {"two spaces before the target", "GET  / HTTP/1.1\r\nHost: a\r\n\r\n"},
      {"an empty line before", "\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n"},
      {"an empty value", "GET / HTTP/1.1\r\nHost: a\r\nX:\r\n\r\n"},
      {"no space behind the colon", "GET / HTTP/1.1\r\nHost:a\r\n\r\n"},
      {"a port", "GET / HTTP/1.1\r\nHost: a:80\r\n\r\n"},
      {"an IPv6 address", "GET / HTTP/1.1\r\nHost: [::1]:80\r\n\r\n"},
      {"an empty host", "GET / HTTP/1.1\r\nHost: \r\n\r\n"},
      {"a whole URL", "GET http://a/ HTTP/1.1\r\nHost: a\r\n\r\n"},
      {"a length of zeros", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0003\r\n\r\nabc"},
      {"CHUNKED",
       "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: CHUNKED\r\n\r\n3\r\nabc\r\n0\r\n\r\n"},
      {"extensions",
       "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: "
       "chunked\r\n\r\n3;a=\"b;c\"\r\nabc\r\n0;d\r\n\r\n"},
      {"bytes above 127", "GET / HTTP/1.1\r\nHost: a\r\nX: \xc3\xa4\r\n\r\n"},
  };
  for (const Case& each : understood) {
    const std::string text = answers(each.bytes + smuggled, read_and_tell);
    EXPECT_EQ(count_of(text, "HTTP/1.1 200 OK"), 2U) << each.name << ": " << text;
    EXPECT_TRUE(text.ends_with("answered /smuggled")) << each.name;
  }
}

}  // namespace
}  // namespace rouse::http
