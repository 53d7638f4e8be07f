#include "rouse/net/socket_addr.hpp"

#include <array>
#include <cstring>
#include <net/if.h>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include <gtest/gtest.h>

#include "net/native_address.hpp"

namespace rouse::net {
namespace {

using namespace std::string_literals;

TEST(SocketAddr, ParsesAndPrintsEachKind) {
  const std::vector<std::string> table{
      "0.0.0.0:0",
      "127.0.0.1:80",
      "1.2.3.4:65535",
      "[::]:0",
      "[::1]:443",
      "[fe80::1%2]:80",
      "[::1%4294967295]:1",
      "[::ffff:1.2.3.4]:5",
      "unix:/run/app.sock",
      "unix:relative",
      "unix:with space",
      "unix:@name",
      "unix:@",
      "unix:",
      "unix:@nul\0inside"s,
      "unix:" + std::string(107, 'p'),
      "unix:@" + std::string(107, 'a'),
  };
  for (const std::string& text : table) {
    const auto parsed = SocketAddr::parse(text);
    ASSERT_TRUE(parsed) << text << ": " << parsed.error().message();
    EXPECT_EQ(parsed->to_string(), text);
  }
}

TEST(SocketAddr, SaysWhyATextIsNoAddress) {
  struct Case {
    std::string text;
    Error error;
  };
  const std::vector<Case> table{
      {"", Error::bad_ip},
      {":", Error::bad_ip},
      {":80", Error::bad_ip},
      {"127.0.0.1", Error::missing_port},
      {"127.0.0.1:", Error::missing_port},
      {"127.0.0.1:x", Error::bad_port},
      {"127.0.0.1:-1", Error::bad_port},
      {"127.0.0.1:+1", Error::bad_port},
      {"127.0.0.1:65536", Error::bad_port},
      {"127.0.0.1:99999999999999999999", Error::bad_port},
      {"127.0.0.1:080", Error::bad_port},
      {"127.0.0.1:0x50", Error::bad_port},
      {"127.0.0.1:80 ", Error::bad_port},
      {"127.0.0.1: 80", Error::bad_port},
      {"127.0.0.1:80\n", Error::bad_port},
      {"127.0.0.1:80\0"s, Error::bad_port},
      {"127.0.0.1:80:80", Error::bad_port},
      {" 127.0.0.1:80", Error::bad_ip},
      {"127.0.0.1 :80", Error::bad_ip},
      {"127.1:80", Error::bad_ip},
      {"127.0.0.256:80", Error::bad_ip},
      {"localhost:80", Error::bad_ip},
      {"localhost", Error::bad_ip},
      {"::1", Error::ipv6_needs_brackets},
      {"::1:80", Error::ipv6_needs_brackets},
      {"fe80::1%2", Error::ipv6_needs_brackets},
      {"[::1]", Error::missing_port},
      {"[::1]:", Error::missing_port},
      {"[::1]80", Error::bad_port},
      {"[::1] :80", Error::bad_port},
      {"[::1]:65536", Error::bad_port},
      {"[::1]]:80", Error::bad_port},
      {"[::1:80", Error::unclosed_bracket},
      {"[", Error::unclosed_bracket},
      {"[]", Error::bad_ip},
      {"[]:80", Error::bad_ip},
      {"[ ::1]:80", Error::bad_ip},
      {"[[::1]]:80", Error::bad_ip},
      {"[127.0.0.1]:80", Error::bad_ip},
      {"[%1]:80", Error::bad_ip},
      {"[fe80::1%]:80", Error::bad_scope},
      {"[fe80::1%nosuchinterface]:80", Error::bad_scope},
      {"[fe80::1%eth 0]:80", Error::bad_scope},
      {"[fe80::1%-1]:80", Error::bad_scope},
      {"[fe80::1%02]:80", Error::bad_scope},
      {"[fe80::1%4294967296]:80", Error::bad_scope},
      {"[fe80::1%1%1]:80", Error::bad_scope},
      {"Unix:/x", Error::bad_ip},
      {"/run/app.sock", Error::bad_ip},
      {"unix:a\0b"s, Error::path_has_nul},
      {"unix:" + std::string(108, 'p'), Error::path_too_long},
      {"unix:@" + std::string(108, 'a'), Error::path_too_long},
  };
  for (const auto& [text, error] : table) {
    const auto parsed = SocketAddr::parse(text);
    ASSERT_FALSE(parsed) << '"' << text << "\" gave " << parsed->to_string();
    EXPECT_EQ(parsed.error(), error) << '"' << text << "\": " << parsed.error().message();
    EXPECT_EQ(parsed.error(), std::errc::invalid_argument) << text;
  }
}

TEST(SocketAddr, EachErrorHasAMessageOfItsOwn) {
  std::unordered_set<std::string> messages;
  for (int i = 1; i <= static_cast<int>(Error::no_addresses); ++i) {
    messages.insert(error_category().message(i));
  }
  EXPECT_EQ(messages.size(), static_cast<std::size_t>(Error::no_addresses));
  EXPECT_FALSE(messages.contains(error_category().message(0)));
}

TEST(SocketAddr, GivesItsParts) {
  SocketAddr v4(IpAddr::loopback(), 80);
  EXPECT_TRUE(v4.is_ipv4() && v4.is_ip() && !v4.is_ipv6() && !v4.is_unix());
  EXPECT_EQ(v4.ip(), IpAddr::loopback());
  EXPECT_EQ(v4.port(), 80);
  EXPECT_EQ(v4.path(), "");
  v4.set_port(8080);
  EXPECT_EQ(v4.to_string(), "127.0.0.1:8080");

  const SocketAddr v6 = SocketAddr::parse("[fe80::1%7]:9").value();
  EXPECT_TRUE(v6.is_ipv6() && v6.is_ip() && !v6.is_ipv4() && !v6.is_unix());
  EXPECT_EQ(v6.ip().to_string(), "fe80::1");
  EXPECT_EQ(v6.scope_id(), 7U);
  const SocketAddr named = SocketAddr::parse("[fe80::1%lo]:9").value();
  EXPECT_EQ(named.scope_id(), ::if_nametoindex("lo"));

  const SocketAddr path = SocketAddr::unix_path("/a/b").value();
  EXPECT_TRUE(path.is_unix() && !path.is_ip() && !path.is_abstract() && !path.is_unnamed());
  EXPECT_EQ(path.path(), "/a/b");
  const SocketAddr name = SocketAddr::unix_abstract("a\0b"s).value();
  EXPECT_TRUE(name.is_unix() && name.is_abstract());
  EXPECT_EQ(name.path(), "a\0b"s);
  EXPECT_TRUE(SocketAddr::unix_unnamed().is_unnamed());
  EXPECT_EQ(SocketAddr::unix_path("").error(), Error::empty_path);
  EXPECT_EQ(SocketAddr::unix_path("@x")->to_string(), "unix:./@x");
}

TEST(SocketAddrDeathTest, AUnixAddressHasNoPort) {
  EXPECT_DEATH((void)SocketAddr::unix_unnamed().port(), "ask is_ip\\(\\) first");
  EXPECT_DEATH((void)SocketAddr::unix_unnamed().ip(), "ask is_ip\\(\\) first");
}

TEST(SocketAddr, ComparesHashesAndPrintsByValue) {
  const std::vector<std::string> sorted{"1.2.3.4:9", "1.2.3.5:1", "1.2.3.5:2", "[::1]:1",
                                        "[::1%1]:1", "unix:",     "unix:a",    "unix:aa",
                                        "unix:b",    "unix:@a"};
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    for (std::size_t j = 0; j < sorted.size(); ++j) {
      EXPECT_EQ(*SocketAddr::parse(sorted[i]) <=> *SocketAddr::parse(sorted[j]), i <=> j)
          << sorted[i] << " and " << sorted[j];
    }
  }
  const std::hash<SocketAddr> hash;
  EXPECT_EQ(hash(*SocketAddr::parse("1.2.3.4:9")), hash(SocketAddr(IpAddr(1, 2, 3, 4), 9)));
  EXPECT_NE(hash(*SocketAddr::parse("1.2.3.4:9")), hash(*SocketAddr::parse("1.2.3.4:10")));
  std::ostringstream out;
  out << SocketAddr(IpAddr::any_v6(), 1) << ' ' << IpAddr::loopback();
  EXPECT_EQ(out.str(), "[::]:1 127.0.0.1");
}

TEST(SocketAddr, ComesBackFromTheSystemAsItWent) {
  const std::vector<std::string> table{"1.2.3.4:80",
                                       "[fe80::1%2]:80",
                                       "unix:/a/b",
                                       "unix:@a\0b"s,
                                       "unix:@",
                                       "unix:",
                                       "unix:" + std::string(107, 'p'),
                                       "unix:@" + std::string(107, 'a')};
  for (const std::string& text : table) {
    const SocketAddr address = SocketAddr::parse(text).value();
    const sys::NativeAddress native = to_native(address);
    EXPECT_LE(native.size, sizeof native.storage);
    EXPECT_EQ(native.storage.ss_family, native_family(address));
    EXPECT_EQ(from_native(native).value(), address) << text;
  }
}

TEST(SocketAddr, TakesOddAddressesOfTheSystem) {
  sys::NativeAddress none;
  none.size = 0;  // recvfrom on an unbound Unix peer
  EXPECT_TRUE(from_native(none)->is_unnamed());

  sys::NativeAddress full = to_native(*SocketAddr::unix_path("p"));
  std::memset(reinterpret_cast<char*>(&full.storage) + 2, 'p', 108);
  full.size = 110;  // a path that fills all of it has no NUL
  EXPECT_EQ(from_native(full)->path(), std::string(108, 'p'));
  EXPECT_EQ(from_native(to_native(*from_native(full))).value(), from_native(full).value());

  sys::NativeAddress cut = to_native(SocketAddr(IpAddr::loopback_v6(), 1));
  cut.size -= 1;
  EXPECT_EQ(from_native(cut).error(), std::errc::address_family_not_supported);
  cut.size = 1;
  EXPECT_EQ(from_native(cut).error(), std::errc::address_family_not_supported);
  sys::NativeAddress foreign;
  foreign.storage.ss_family = AF_NETLINK;
  EXPECT_EQ(from_native(foreign).error(), std::errc::address_family_not_supported);
}

/// Texts near to addresses: valid ones with some bytes changed, removed or put in.
std::string mutate(std::mt19937& random, std::string text) {
  using namespace std::string_view_literals;
  constexpr std::string_view bytes = "0123456789abcdefF:.[]%@/unix \0\xff"sv;
  const auto pick = [&](std::size_t n) { return static_cast<std::size_t>(random()) % n; };
  for (std::size_t i = pick(4); i > 0; --i) {
    const std::size_t at = pick(text.size() + 1);
    const std::size_t what = pick(3);
    if (what == 0) text.insert(at, 1, bytes[pick(bytes.size())]);
    if (what == 1 && at < text.size()) text.erase(at, 1 + pick(3));
    if (what == 2 && at < text.size()) text[at] = bytes[pick(bytes.size())];
  }
  return text;
}

TEST(SocketAddr, WhateverParsesIsReadBackFromItsText) {
  const std::array<std::string, 8> seeds{
      "127.0.0.1:80",   "[::1]:443",          "[fe80::1%2]:80",          "unix:/tmp/sock",
      "unix:@abstract", "[::ffff:1.2.3.4]:1", "[1:2:3:4:5:6:7:8]:65535", ""};
  std::mt19937 random(42);
  int parsed_ones = 0;
  for (int i = 0; i < 50'000; ++i) {
    const std::string text = mutate(random, seeds.at(random() % seeds.size()));
    const auto parsed = SocketAddr::parse(text);
    if (!parsed) continue;
    ++parsed_ones;
    ASSERT_EQ(SocketAddr::parse(parsed->to_string()).value(), *parsed) << text;
  }
  EXPECT_GT(parsed_ones, 5'000);
}

}  // namespace
}  // namespace rouse::net
