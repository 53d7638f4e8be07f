// ROUSE_SIGHT: what it may be, and that a wrong value ends nothing.
#include <chrono>
#include <cstdlib>
#include <string>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rouse/sight/start.hpp"

#include "sight/parse_options.hpp"
#include "support/program.hpp"

namespace rouse::sight {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::internal::CaptureStderr;
using ::testing::internal::GetCapturedStderr;

struct Outcome {
  Sight sight;
  std::string text;
};
/// What starts with this value; null: without the variable.
Outcome start_with(const char* value) {
  if (value != nullptr) {
    ::setenv("ROUSE_SIGHT", value, 1);
  } else {
    ::unsetenv("ROUSE_SIGHT");
  }
  CaptureStderr();
  Outcome told;
  told.sight = from_environment();
  told.text = GetCapturedStderr();
  ::unsetenv("ROUSE_SIGHT");
  return told;
}

TEST(FromEnvironment, WithoutTheVariableNothingStarts) {
  for (const char* const value : {static_cast<const char*>(nullptr), ""}) {
    const Outcome told = start_with(value);
    EXPECT_FALSE(told.sight);
    EXPECT_EQ(told.text, "");
    EXPECT_EQ(told.sight.url(), "");
    EXPECT_EQ(told.sight.socket_path(), "");
  }
}

TEST(FromEnvironment, TellsWhereThePageIs) {
  test::TempDirectory folder;
  const Outcome told = start_with(("tcp,socket=" + folder.file("here")).c_str());
  EXPECT_TRUE(told.sight);
  EXPECT_EQ(told.sight.socket_path(), folder.file("here"));
  EXPECT_THAT(told.sight.url(), ContainsRegex("^http://127.0.0.1:[0-9]+/#[0-9a-f]+$"));
  EXPECT_THAT(told.text, HasSubstr(told.sight.url() + "\n"));
  EXPECT_THAT(told.text, HasSubstr(folder.file("here") + "\n"));
}

TEST(FromEnvironment, AWrongValueIsToldAndTheProgramGoesOn) {
  const Outcome told = start_with("socket,window=\x1b[31m");
  EXPECT_FALSE(told.sight);
  EXPECT_THAT(told.text, HasSubstr("'window=\\x1b[31m' is not understood"));
  EXPECT_THAT(told.text, HasSubstr("tcp=PORT"));
}

TEST(FromEnvironment, WhatCannotStartIsToldAndTheProgramGoesOn) {
  const Outcome told = start_with("socket=/no/such/folder/here");
  EXPECT_FALSE(told.sight);
  EXPECT_THAT(told.text, HasSubstr("No such file"));
}

TEST(ParseOptions, EachPart) {
  const auto options = *parse_options("socket,tcp=9000,dump=QUIT,dump=SIGUSR1,dump=12").options;
  EXPECT_EQ(options.socket_path(), "");
  EXPECT_EQ(options.tcp_port(), 9000);
  ASSERT_EQ(options.signals().size(), 3U);
  EXPECT_EQ(options.signals()[0].number, SIGQUIT);
  EXPECT_EQ(options.signals()[1].number, SIGUSR1);
  EXPECT_EQ(options.signals()[2].number, 12);
  EXPECT_EQ(parse_options("socket=/a/b").options->socket_path(), "/a/b");
  EXPECT_EQ(parse_options("tcp").options->tcp_port(), 0);
  EXPECT_FALSE(parse_options("tcp").options->socket_path());
  EXPECT_TRUE(
      parse_options("watch,record,record=4MiB,record=64KiB,slow_poll,slow_poll=500us").options);
  EXPECT_TRUE(parse_options("slow_poll=1s").options);
  EXPECT_EQ(parse_options("stuck").options->stuck_interval(), std::chrono::seconds(1));
  EXPECT_EQ(parse_options("stuck=20ms").options->stuck_interval(), std::chrono::milliseconds(20));
}

TEST(ParseOptions, OneIsTheUsual) {
  const auto options = *parse_options("1").options;
  EXPECT_EQ(options.socket_path(), "");
  EXPECT_FALSE(options.tcp_port());
  ASSERT_EQ(options.signals().size(), 1U);
  EXPECT_EQ(options.signals()[0].number, SIGQUIT);
}

TEST(ParseOptions, OneMayStandInAList) {
  const auto options = *parse_options("1,tcp=9000").options;
  EXPECT_EQ(options.socket_path(), "");
  EXPECT_EQ(options.tcp_port(), 9000);
  EXPECT_TRUE(options.watches());
  EXPECT_EQ(parse_options("1,socket=/a/b").options->socket_path(), "/a/b");
}

TEST(ParseOptions, WhatIsWrongIsNamed) {
  for (const char* const wrong : {"tcp=65536",
                                  "tcp=-1",
                                  "tcp=",
                                  "tcp=80x",
                                  "socket=",
                                  "dump",
                                  "dump=",
                                  "dump=NOW",
                                  "dump=0",
                                  "dump=65",
                                  "Socket",
                                  " socket",
                                  "slow_poll=10",
                                  "slow_poll=0ms",
                                  "slow_poll=ms",
                                  "record=1",
                                  "record=99999MiB",
                                  "watch=1",
                                  "2",
                                  "yes"}) {
    const ParsedOptions parsed = parse_options(std::string("tcp,") + wrong + ",tcp");
    EXPECT_FALSE(parsed.options) << wrong;
    EXPECT_EQ(parsed.wrong, std::string("'") + wrong + "'");
  }
  EXPECT_EQ(parse_options("tcp,,tcp").wrong, "''");
}

}  // namespace
}  // namespace rouse::sight
