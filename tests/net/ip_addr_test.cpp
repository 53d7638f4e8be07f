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
