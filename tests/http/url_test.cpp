// URLs as the client reads them.
#include "http/url.hpp"

#include <optional>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace rouse::http {
namespace {

/// As the client would ask for it: "host:port target", with the credentials.
std::string asked(std::string_view text) {
  const std::optional<Url> url = parse_url(text);
  if (!url) return "refused";
  std::string shown = url->origin.is_secure ? "tls " : "";
  shown += url->origin.host_and_port() + ' ' + url->target;
  if (!url->credentials.empty()) shown += ' ' + url->credentials;
  return shown;
}
std::string resolved(std::string_view base, std::string_view reference) {
  const std::optional<Url> url = resolve_url(*parse_url(base), reference);
  return url ? url->text() : "refused";
}

TEST(Url, HasAHostAPortAndATarget) {
  EXPECT_EQ(asked("http://example.org"), "example.org:80 /");
  EXPECT_EQ(asked("https://Example.ORG/a/b?c=d&e#f"), "tls example.org:443 /a/b?c=d&e");
  EXPECT_EQ(asked("HTTP://h:8080?q"), "h:8080 /?q");
  EXPECT_EQ(asked("http://h/?"), "h:80 /?");
  EXPECT_EQ(asked("http://h:/"), "h:80 /");
  EXPECT_EQ(asked("http://[::1]:81/x"), "[::1]:81 /x");
  EXPECT_EQ(asked("http://127.0.0.1/%41%2F"), "127.0.0.1:80 /A%2F");
  EXPECT_EQ(asked("http://h//a//b/"), "h:80 //a//b/");
}

TEST(Url, DotsInThePathAreResolved) {
  EXPECT_EQ(asked("http://h/a/../b/./c"), "h:80 /b/c");
  EXPECT_EQ(asked("http://h/../../x"), "h:80 /x");
  EXPECT_EQ(asked("http://h/%2e%2e/x"), "h:80 /x");
}

TEST(Url, CredentialsAreDecodedAndStandNowhereElse) {
  EXPECT_EQ(asked("http://ann:p%40ss@h/"), "h:80 / ann:p@ss");
  EXPECT_EQ(parse_url("http://ann:secret@h/x")->text(), "http://h/x");
  EXPECT_EQ(basic_credentials("Aladdin:open sesame"), "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
  EXPECT_EQ(basic_credentials("a:b"), "Basic YTpi");
  EXPECT_EQ(basic_credentials("a:bc"), "Basic YTpiYw==");
}

TEST(Url, WhatTwoProgramsMightReadDifferentlyIsRefused) {
  for (const std::string_view text : {"",
                                      "h/x",
                                      "/x",
                                      "ftp://h/",
                                      "http:/x",
                                      "http:///x",
                                      "http://",
                                      "http://h:0/",
                                      "http://h:65536/",
                                      "http://h:8x/",
                                      "http://a b/",
                                      "http://h/a b",
                                      "http://h\\x/",
                                      "http://h%2ex/",
                                      "http://h,i/",
                                      "http://h/\xC3\xA4",
                                      "http://h/\n",
                                      "http://h/%zz",
                                      "http://user%00@h/",
                                      "http://[::1/",
                                      "http://[v1.x]/",
                                      "http://h\r\nX: y/",
                                      "mailto:a@b"}) {
    EXPECT_EQ(asked(text), "refused") << text;
  }
}

TEST(Url, OneThatIsTooLongIsRefused) {
  const std::string base = "http://h/";
  EXPECT_NE(asked(base + std::string(8192 - base.size(), 'x')), "refused");
  EXPECT_EQ(asked(base + std::string(8193 - base.size(), 'x')), "refused");
  EXPECT_EQ(resolved("http://h/", std::string(8193, 'x')), "refused");
}

TEST(Url, ALocationIsResolved) {
  EXPECT_EQ(resolved("http://h/a/b?c", "d"), "http://h/a/d");
  EXPECT_EQ(resolved("http://h/a/b?c", "?d"), "http://h/a/b?d");
  EXPECT_EQ(resolved("http://h/a/b", "/x/../y"), "http://h/y");
  EXPECT_EQ(resolved("https://h:444/a", "//i/z"), "https://i/z");
  EXPECT_EQ(resolved("http://h/a", "https://i:443/"), "https://i/");
  EXPECT_EQ(resolved("http://[::1]:8080/a", "b"), "http://[::1]:8080/b");
  EXPECT_EQ(resolved("http://h/a", "/a b|c\xC3\xA4"), "http://h/a%20b%7Cc%C3%A4");
  EXPECT_EQ(resolved("http://h/a", "ftp://h/"), "refused");
}

}  // namespace
}  // namespace rouse::http
