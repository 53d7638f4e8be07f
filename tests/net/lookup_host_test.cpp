#include "rouse/net/lookup_host.hpp"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/exec/enter_guard.hpp"
#include "rouse/runtime/runtime.hpp"
#include "rouse/testing/drop_at_each_poll.hpp"
#include "rouse/testing/poll_harness.hpp"

#include "net/resolve.hpp"

namespace rouse::net {
namespace {

using namespace std::string_literals;

TEST(Endpoint, WhatNamesAnAddressNeedsNoLookup) {
  const std::vector<std::pair<Endpoint, std::string>> table{
      {"127.0.0.1:80", "127.0.0.1:80"},
      {"[::1]:80"s, "[::1]:80"},
      {std::string_view("unix:/x"), "unix:/x"},
      {SocketAddr(IpAddr(1, 2, 3, 4), 5), "1.2.3.4:5"},
      {{IpAddr::loopback_v6(), 5}, "[::1]:5"},
      {{"1.2.3.4", 5}, "1.2.3.4:5"},
      {{"::1", 5}, "[::1]:5"},
      {{"fe80::1%3", 5}, "[fe80::1%3]:5"},
  };
  for (const auto& [endpoint, address] : table) {
    const auto target = understand(endpoint);
    ASSERT_TRUE(target) << address << ": " << target.error().message();
    ASSERT_TRUE(target->address) << address;
    EXPECT_EQ(target->address->to_string(), address);
  }
}

TEST(Endpoint, ANameIsTakenApart) {
  const std::vector<Endpoint> same{"example.org:443", {"example.org", 443}};
  for (const Endpoint& endpoint : same) {
    const auto target = understand(endpoint);
    ASSERT_TRUE(target);
    EXPECT_FALSE(target->address);
    EXPECT_EQ(target->host, "example.org");
    EXPECT_EQ(target->port, 443);
    EXPECT_EQ(endpoint.to_string(), "example.org:443");
  }
  EXPECT_EQ(understand("a.example.:0")->host, "a.example.");
  EXPECT_EQ(understand("x1:1")->host, "x1");
}

TEST(Endpoint, SaysWhyItNamesNothing) {
  const std::vector<std::pair<Endpoint, Error>> table{
      {"", Error::empty_host},
      {":", Error::empty_host},
      {":80", Error::empty_host},
      {"localhost", Error::missing_port},
      {"localhost:", Error::missing_port},
      {"localhost:http", Error::bad_port},
      {"localhost:65536", Error::bad_port},
      {"localhost:080", Error::bad_port},
      {"localhost:80 ", Error::bad_port},
      {" localhost:80", Error::bad_host},
      {"local host:80", Error::bad_host},
      {"local\0host:80"s, Error::bad_host},
      {"http://localhost:80", Error::bad_host},
      {"user@localhost:80", Error::bad_host},
      {"a:b:80", Error::bad_host},
      {std::string(255, 'x') + ":80", Error::bad_host},
      {"::1:80", Error::ipv6_needs_brackets},
      {"[localhost]:80", Error::bad_ip},
      {"[::1]", Error::missing_port},
      {"127.0.0.1", Error::missing_port},
      {"127.1:80", Error::bad_ip},
      {"127.0.0.256:80", Error::bad_ip},
      {"0x7f.1:80", Error::bad_ip},
      {"0x7f000001:80", Error::bad_ip},
      {"2130706433:80", Error::bad_ip},
      {"unix:" + std::string(200, 'x'), Error::path_too_long},
      {{"", 80}, Error::empty_host},
      {{"localhost:80", 80}, Error::bad_ip},
      {{"[::1]", 80}, Error::bad_ip},
      {{"127.1", 80}, Error::bad_ip},
      {{"fe80::1%nosuchinterface", 80}, Error::bad_scope},
  };
  for (const auto& [endpoint, error] : table) {
    const auto target = understand(endpoint);
    ASSERT_FALSE(target) << endpoint.to_string();
    EXPECT_EQ(target.error(), error) << endpoint.to_string() << ": " << target.error().message();
  }
}

std::vector<std::string> interleaved(const std::vector<std::string>& texts) {
  std::vector<SocketAddr> addresses;
  for (const std::string& text : texts) addresses.push_back(SocketAddr::parse(text).value());
  std::vector<std::string> mixed;
  for (const SocketAddr& address : interleave(addresses)) mixed.push_back(address.to_string());
  return mixed;
}

TEST(LookupHost, FamiliesTakeTurnsBeginningWithTheFirst) {
  using List = std::vector<std::string>;
  EXPECT_EQ(interleaved({}), List());
  EXPECT_EQ(interleaved({"1.1.1.1:1"}), List({"1.1.1.1:1"}));
  EXPECT_EQ(interleaved({"[::1]:1", "[::2]:1", "[::3]:1", "1.1.1.1:1", "2.2.2.2:1"}),
            List({"[::1]:1", "1.1.1.1:1", "[::2]:1", "2.2.2.2:1", "[::3]:1"}));
  EXPECT_EQ(interleaved({"1.1.1.1:1", "[::1]:1", "[::2]:1"}),
            List({"1.1.1.1:1", "[::1]:1", "[::2]:1"}));
  EXPECT_EQ(interleaved({"1.1.1.1:1", "1.1.1.1:1", "[::1]:1", "[::1]:1"}),
            List({"1.1.1.1:1", "[::1]:1"}));
}

TEST(LookupHost, AnAddressIsGivenBackAtOnceWithoutARuntime) {
  testing::PollHarness lookup(lookup_host("127.0.0.1:80"));
  auto polled = lookup.poll();
  ASSERT_TRUE(polled.is_ready());
  EXPECT_EQ(polled.value(), std::vector<SocketAddr>(1, SocketAddr(IpAddr::loopback(), 80)));
}

TEST(LookupHost, ABadTextIsAnErrorAtOnce) {
  testing::PollHarness lookup(lookup_host("localhost").result());
  auto polled = lookup.poll();
  ASSERT_TRUE(polled.is_ready());
  EXPECT_EQ(polled.value().error(), Error::missing_port);
}

TEST(LookupHost, LocalhostIsLoopback) {
  Runtime runtime = Runtime::builder().worker_threads(1).build();
  const auto found = runtime.block_on(lookup_host("localhost:8080"));
  ASSERT_FALSE(found.empty());
  for (const SocketAddr& address : found) {
    EXPECT_TRUE(address.ip().is_loopback()) << address;
    EXPECT_EQ(address.port(), 8080) << address;
  }
}

TEST(LookupHost, AHostThatCantBeIsAnErrorOfTheResolver) {
  Runtime runtime = Runtime::builder().current_thread().build();
  // A label longer than 63 bytes is refused without a question to the network.
  const auto found = runtime.block_on(lookup_host(std::string(70, 'x') + ":80").result());
  ASSERT_FALSE(found);
  EXPECT_STREQ(found.error().category().name(), "rouse.net.lookup");
  EXPECT_FALSE(found.error().message().empty());
}

TEST(LookupHost, DroppedAtAnyPollItLeavesNothing) {
  Runtime runtime = Runtime::builder().worker_threads(1).max_blocking_threads(1).build();
  const EnterGuard enter = runtime.enter();
  const auto report = testing::drop_at_each_poll([] { return lookup_host("localhost:1"); },
                                                 [&](std::size_t) {
                                                   // One thread at most works here: what it is
                                                   // given last is done last.
                                                   runtime.block_on(runtime.spawn_blocking([] {}));
                                                 });
  EXPECT_GE(report.polls, 1U);  // the answer may be there before the first poll has ended
  EXPECT_LE(report.polls, 2U);
  EXPECT_FALSE(report.threw);
}

}  // namespace
}  // namespace rouse::net
