#include "rouse/net/ip_addr.hpp"

#include <array>
#include <random>
#include <string>
#include <string_view>
#include <unordered_set>

#include <gtest/gtest.h>

namespace rouse::net {
namespace {

struct Printed {
  std::string_view text;
  std::string_view canonical;
};

TEST(IpAddr, ParsesAndPrintsAsRfc5952Wants) {
  constexpr std::array<Printed, 27> table{{
      {"0.0.0.0", "0.0.0.0"},
      {"127.0.0.1", "127.0.0.1"},
      {"255.255.255.255", "255.255.255.255"},
      {"::", "::"},
      {"::1", "::1"},
      {"1::", "1::"},
      {"0:0:0:0:0:0:0:0", "::"},
      {"2001:db8::1", "2001:db8::1"},
      {"2001:DB8::AbCd", "2001:db8::abcd"},
      {"2001:0db8:0000:0000:0000:0000:0000:0001", "2001:db8::1"},
      {"2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"},
      {"2001:db8::1:1:1:1:1", "2001:db8:0:1:1:1:1:1"},
      {"2001:0:0:1:0:0:0:1", "2001:0:0:1::1"},
      {"2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"},
      {"1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8"},
      {"1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"},
      {"::2:3:4:5:6:7:8", "0:2:3:4:5:6:7:8"},
      {"1:2:3:4:5:6::", "1:2:3:4:5:6::"},
      {"::3:4:5:6:7:8", "::3:4:5:6:7:8"},
      {"::ffff:1.2.3.4", "::ffff:1.2.3.4"},
      {"::ffff:102:304", "::ffff:1.2.3.4"},
      {"::1.2.3.4", "::102:304"},
      {"1:2:3:4:5:6:1.2.3.4", "1:2:3:4:5:6:102:304"},
      {"64:ff9b::192.0.2.33", "64:ff9b::c000:221"},
      {"fe80::", "fe80::"},
      {"ff02::1", "ff02::1"},
      {"0:0:1::", "0:0:1::"},
  }};
  for (const auto& [text, canonical] : table) {
    const auto parsed = IpAddr::parse(text);
    ASSERT_TRUE(parsed) << text;
    EXPECT_EQ(parsed->to_string(), canonical) << text;
  }
}

TEST(IpAddr, WhatIsNoAddressIsRefused) {
  using namespace std::string_view_literals;
  constexpr std::array refused{""sv,
                               " "sv,
                               "."sv,
                               "1"sv,
                               "127.1"sv,
                               "1.2.3"sv,
                               "1.2.3.4.5"sv,
                               "1.2.3.4."sv,
                               ".1.2.3.4"sv,
                               "1..3.4"sv,
                               "256.0.0.1"sv,
                               "1.2.3.999"sv,
                               "01.2.3.4"sv,
                               "1.2.3.00"sv,
                               "+1.2.3.4"sv,
                               "-1.2.3.4"sv,
                               "0x1.2.3.4"sv,
                               " 1.2.3.4"sv,
                               "1.2.3.4 "sv,
                               "1.2.3.4\n"sv,
                               "1.2.3.4\0"sv,
                               "1.2. 3.4"sv,
                               "1,2,3,4"sv,
                               "a.b.c.d"sv,
                               "1.2.3.4:80"sv,
                               "4294967296.1.1.1"sv,
                               ":"sv,
                               ":::"sv,
                               "::1::"sv,
                               "1::2::3"sv,
                               ":1"sv,
                               "1:"sv,
                               ":1:2:3:4:5:6:7"sv,
                               "1:2:3:4:5:6:7:"sv,
                               "1:2:3:4:5:6:7"sv,
                               "1:2:3:4:5:6:7:8:9"sv,
                               "1:2:3:4::5:6:7:8"sv,
                               "::1:2:3:4:5:6:7:8"sv,
                               "1:2:3:4:5:6:7:8::"sv,
                               "12345::"sv,
                               "00001::"sv,
                               "g::"sv,
                               "-1::"sv,
                               "+1::"sv,
                               "0x1::"sv,
                               " ::1"sv,
                               "::1 "sv,
                               "::1\0"sv,
                               "::%1"sv,
                               "fe80::1%eth0"sv,
                               "[::1]"sv,
                               "1.2.3.4::"sv,
                               "1.2.3.4:1:2:3:4:5:6"sv,
                               "::1.2.3"sv,
                               "::1.2.3.4.5"sv,
                               "::1.2.3.256"sv,
                               "::1.2.3.4:1"sv,
                               "1:2:3:4:5:6:7:1.2.3.4"sv,
                               "1:2:3:4:5:1.2.3.4"sv,
                               "::1:2:3:4:5:6:1.2.3.4"sv};
  for (const std::string_view text : refused) {
    const auto parsed = IpAddr::parse(text);
    ASSERT_FALSE(parsed) << '"' << text << "\" gave " << parsed->to_string();
    EXPECT_EQ(parsed.error(), Error::bad_ip) << text;
    EXPECT_EQ(parsed.error(), std::errc::invalid_argument) << text;
  }
}

TEST(IpAddr, KnowsWhatKindOfAddressItIs) {
  EXPECT_TRUE(IpAddr().is_unspecified());
  EXPECT_TRUE(IpAddr::any().is_ipv4());
  EXPECT_TRUE(IpAddr::any_v6().is_unspecified());
  EXPECT_TRUE(IpAddr::any_v6().is_ipv6());
  EXPECT_NE(IpAddr::any(), IpAddr::any_v6());
  EXPECT_TRUE(IpAddr::loopback().is_loopback());
  EXPECT_TRUE(IpAddr(127, 9, 9, 9).is_loopback());
  EXPECT_FALSE(IpAddr(128, 0, 0, 1).is_loopback());
  EXPECT_TRUE(IpAddr::loopback_v6().is_loopback());
  EXPECT_FALSE(IpAddr::any_v6().is_loopback());
  EXPECT_TRUE(IpAddr(224, 0, 0, 1).is_multicast());
  EXPECT_TRUE(IpAddr(239, 255, 255, 255).is_multicast());
  EXPECT_FALSE(IpAddr(240, 0, 0, 1).is_multicast());
  EXPECT_TRUE(IpAddr::parse("ff02::1")->is_multicast());
  EXPECT_FALSE(IpAddr::parse("fe80::1")->is_multicast());
}

TEST(IpAddr, AMappedAddressBecomesTheIpv4AddressInIt) {
  const IpAddr mapped = *IpAddr::parse("::ffff:10.0.0.7");
  EXPECT_TRUE(mapped.is_ipv6());
  EXPECT_TRUE(mapped.is_ipv4_mapped());
  EXPECT_EQ(mapped.to_canonical(), IpAddr(10, 0, 0, 7));
  EXPECT_EQ(IpAddr::loopback_v6().to_canonical(), IpAddr::loopback_v6());
}

TEST(IpAddr, AMappedAddressIsOfTheKindOfTheIpv4AddressInIt) {
  EXPECT_TRUE(IpAddr::parse("::ffff:127.0.0.1")->is_loopback());
  EXPECT_TRUE(IpAddr::parse("::ffff:7f09:909")->is_loopback());
  EXPECT_FALSE(IpAddr::parse("::ffff:128.0.0.1")->is_loopback());
  EXPECT_TRUE(IpAddr::parse("::ffff:0.0.0.0")->is_unspecified());
  EXPECT_FALSE(IpAddr::parse("::ffff:0.0.0.1")->is_unspecified());
  EXPECT_TRUE(IpAddr::parse("::ffff:224.0.0.1")->is_multicast());
  EXPECT_FALSE(IpAddr::parse("::ffff:1.0.0.1")->is_multicast());
}

TEST(IpAddr, IsGlobalIfItIsAHostOfTheInternet) {
  // The first and the last address of what is not, and their neighbours that are.
  const std::vector<std::string_view> global{
      "1.0.0.0",         "9.255.255.255",   "11.0.0.0",        "100.63.255.255", "100.128.0.0",
      "126.255.255.255", "128.0.0.0",       "169.253.255.255", "169.255.0.0",    "172.15.255.255",
      "172.32.0.0",      "191.255.255.255", "192.0.1.0",       "192.0.3.0",      "192.88.98.255",
      "192.88.100.0",    "192.167.255.255", "192.169.0.0",     "198.17.255.255", "198.20.0.0",
      "198.51.99.255",   "198.51.101.0",    "203.0.112.255",   "203.0.114.0",    "223.255.255.255",
      "2000::",          "2001:200::",      "2001:db7:ffff::", "2001:db9::",     "2003::",
      "2606:4700::1111", "3ffe:ffff::",     "3fff:1000::",     "3fff:ffff::",    "::ffff:8.8.8.8",
      "64:ff9b::8.8.8.8"};
  for (const std::string_view text : global) EXPECT_TRUE(IpAddr::parse(text)->is_global()) << text;
  const std::vector<std::string_view> others{"0.0.0.0",
                                             "0.255.255.255",
                                             "10.0.0.0",
                                             "10.255.255.255",
                                             "100.64.0.0",
                                             "100.127.255.255",
                                             "127.0.0.1",
                                             "127.255.255.255",
                                             "169.254.0.0",
                                             "169.254.255.255",
                                             "172.16.0.0",
                                             "172.31.255.255",
                                             "192.0.0.0",
                                             "192.0.0.255",
                                             "192.0.2.0",
                                             "192.0.2.255",
                                             "192.88.99.0",
                                             "192.88.99.255",
                                             "192.168.0.0",
                                             "192.168.255.255",
                                             "198.18.0.0",
                                             "198.19.255.255",
                                             "198.51.100.0",
                                             "198.51.100.255",
                                             "203.0.113.0",
                                             "203.0.113.255",
                                             "224.0.0.0",
                                             "240.0.0.0",
                                             "255.255.255.255",
                                             "::",
                                             "::1",
                                             "::8.8.8.8",
                                             "64:ff9b:1::",
                                             "100::1",
                                             "1fff:ffff::",
                                             "2001::",
                                             "2001:1ff:ffff::",
                                             "2001:db8::",
                                             "2001:db8:ffff::1",
                                             "2002::",
                                             "2002:ffff::",
                                             "3fff::",
                                             "3fff:fff:ffff::",
                                             "4000::",
                                             "5f00::1",
                                             "fc00::",
                                             "fdff:ffff::",
                                             "fe80::1",
                                             "febf::",
                                             "fec0::",
                                             "ff02::1",
                                             "::ffff:10.0.0.1",
                                             "::ffff:0.0.0.0",
                                             "64:ff9b::a00:1",
                                             "64:ff9b::7f00:1"};
  for (const std::string_view text : others) EXPECT_FALSE(IpAddr::parse(text)->is_global()) << text;
}

TEST(IpAddr, ComparesAndHashesByValue) {
  EXPECT_LT(IpAddr(1, 2, 3, 4), IpAddr(1, 2, 3, 5));
  EXPECT_LT(IpAddr(9, 255, 255, 255), IpAddr(10, 0, 0, 0));
  EXPECT_LT(IpAddr(255, 255, 255, 255), IpAddr::any_v6());
  const std::unordered_set<IpAddr> set{IpAddr(1, 2, 3, 4), IpAddr(1, 2, 3, 4), IpAddr::any()};
  EXPECT_EQ(set.size(), 2U);
}

TEST(IpAddr, EveryAddressIsReadBackFromItsText) {
  std::mt19937 random(20260101);
  for (int i = 0; i < 20'000; ++i) {
    IpAddr::V6Bytes bytes{};
    const unsigned zeros = static_cast<unsigned>(random());  // many zeros: many gaps
    for (std::size_t b = 0; b < bytes.size(); ++b) {
      if ((zeros >> (b / 2) & 1U) != 0) bytes.at(b) = static_cast<std::uint8_t>(random());
    }
    const IpAddr v6(bytes);
    ASSERT_EQ(IpAddr::parse(v6.to_string()).value(), v6) << v6;
    const IpAddr v4(bytes[0], bytes[5], bytes[10], bytes[15]);
    ASSERT_EQ(IpAddr::parse(v4.to_string()).value(), v4) << v4;
  }
}

}  // namespace
}  // namespace rouse::net
