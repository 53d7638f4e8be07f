// What the inspector shows, by a server of the program.
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rouse/exec/task_builder.hpp"

#include "http/support.hpp"
#include "sight/page.hpp"

namespace rouse::http {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

Async<std::string> ask_beside_a_task(std::string request, Router routes) {
  const auto waits = task::Builder().name("a task that waits").spawn(sleep(1h));
  ServerOptions options;
  co_return co_await answers_to(std::move(request), std::move(routes), std::move(options));
}

std::string ask(const std::string& target) {
  Router routes;
  routes.get("/sight/{rest...}", sight_pages());
  Runtime rt;
  return rt.block_on(ask_beside_a_task(
      "GET " + target + " HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", routes));
}

TEST(HttpSightPages, ThePageIsTheInspectorS) {
  const std::string answer = ask("/sight/");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(answer, HasSubstr("Content-Security-Policy: " + std::string(sight::page_policy())));
  EXPECT_TRUE(answer.ends_with(sight::page()));
}

TEST(HttpSightPages, WhatThePageAsksForIsBesideIt) {
  EXPECT_THAT(std::string(sight::page()), HasSubstr("fetch(\".\" + path"));
  EXPECT_THAT(ask("/sight/dump"), HasSubstr("a task that waits"));
  EXPECT_THAT(ask("/sight/dump?format=json"), HasSubstr("\"format\":1"));
  EXPECT_THAT(ask("/sight/metrics"), HasSubstr("\nrouse_tasks_alive{"));
  EXPECT_THAT(ask("/sight/sites"), HasSubstr("\"sites\""));
  EXPECT_THAT(ask("/sight/slow"), HasSubstr("\r\n\r\n["));
  EXPECT_THAT(ask("/sight/nothing"), StartsWith("HTTP/1.1 404 "));
}

}  // namespace
}  // namespace rouse::http
