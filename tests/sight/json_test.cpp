// Whatever names tasks have: the JSON is valid, and no text harms a terminal.
#include "sight/json.hpp"

#include <chrono>
#include <functional>
#include <stdexcept>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rouse/exec/task_builder.hpp"
#include "rouse/future/pending_forever.hpp"
#include "rouse/net/unix_listener.hpp"
#include "rouse/runtime/runtime.hpp"

#include "sight/seen.hpp"

namespace {

using namespace rouse;
using namespace std::string_literals;
using rouse::test::Json;
using rouse::test::JsonSchema;
using rouse::test::let_run;
using rouse::test::runtime_with;
using rouse::test::see_idle;
using rouse::test::Seen;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// --- The tests' own tools. ---

TEST(JsonOfTests, ReadsWhatIsJson) {
  const Json json = Json::parse(" {\"a\":[1,20 , \"x\\u0007\\\"\\u00e9\"],\"b\":{},\"c\":true}\n");
  EXPECT_EQ(json["a"][1].number(), 20U);
  EXPECT_EQ(json["a"][2].string(), "x\x07\"\xc3\xa9");
  EXPECT_EQ(json["b"].type(), Json::Type::object);
  EXPECT_EQ(json["c"].type(), Json::Type::boolean);
  EXPECT_EQ(Json::parse("18446744073709551615").number(), UINT64_MAX);
  EXPECT_EQ(Json::parse("12.250").real(), 12.25);
  EXPECT_EQ(Json::parse("-1").real(), -1);
  EXPECT_EQ(Json::parse("0.5e+2").real(), 50);
}

TEST(JsonOfTests, RefusesWhatIsNone) {
  for (const std::string& text : {""s,
                                  "{"s,
                                  "{}x"s,
                                  "[1,]"s,
                                  "{\"a\":1,}"s,
                                  "{\"a\" 1}"s,
                                  "{a:1}"s,
                                  "\"\n\""s,
                                  "\"\\x41\""s,
                                  "\"\\u00\""s,
                                  "\"\xff\""s,
                                  "\"\xc2\""s,
                                  "\"\xed\xa0\x80\""s,
                                  "\"\xc0\x80\""s,
                                  "01"s,
                                  "\""s,
                                  "{\"a\":1,\"a\":2}"s,
                                  "18446744073709551616"s,
                                  "-"s,
                                  "1."s,
                                  "1e"s,
                                  "nul"s,
                                  "\"\\ud800\""s}) {
    EXPECT_THROW((void)Json::parse(text), std::runtime_error) << text;
  }
}

TEST(JsonOfTests, ASchemaRefusesWhatItDoesNotDescribe) {
  const JsonSchema& schema = rouse::test::dump_schema();
  const std::string valid =
      R"({"format":1,"tasks":1,"nobody_can_wake":0,"left_out":0,"executors":[{"kind":"pool",)"
      R"("tasks":1,"groups":[{"count":1,"ids":[7],"state":"idle","waits":{"for":{"kind":"one",)"
      R"("label":"read","of":[{"for":{"kind":"lock","label":"Mutex","address":"0x1f"}}]},)"
      R"("at":[{"file":"a","line":1,"function":"f"},{"left_out":3}]}}]}]})";
  EXPECT_EQ(schema.problem_of(Json::parse(valid)), "");
  const std::vector<std::pair<std::string, std::string>> changes{
      {"\"format\":1", "\"format\":2"},
      {"\"left_out\":0,", ""},
      {"\"left_out\":0", "\"left_out\":\"0\""},
      {"\"kind\":\"pool\"", "\"kind\":\"lake\""},
      {"\"ids\":[7]", "\"ids\":[]"},
      {"\"ids\":[7]", "\"ids\":[7,8,9,10,11]"},
      {"\"state\":\"idle\"", "\"state\":\"idle\",\"mood\":\"good\""},
      {"\"kind\":\"lock\"", "\"kind\":\"all_of\""},
      {"0x1f", "1f"},
      {"\"left_out\":3", "\"left_out\":0"},
      {"\"line\":1,", ""},
      {"\"count\":1", "\"count\":0"},
  };
  for (const auto& [from, to] : changes) {
    std::string text = valid;
    ASSERT_NE(text.find(from), std::string::npos) << from;
    text.replace(text.find(from), from.size(), to);
    EXPECT_NE(schema.problem_of(Json::parse(text)), "") << text;
  }
}

TEST(JsonOfTests, HarmIsFound) {
  for (const std::string& text :
       {"\x1b"s, "a\rb"s, "\x7f"s, "\xc2\x85"s, "\xff"s, std::string(1, 0)}) {
    EXPECT_FALSE(rouse::test::is_harmless(text)) << text;
  }
  EXPECT_TRUE(rouse::test::is_harmless("a\n\xc3\xa9\n"));
}

// --- Names. ---

struct Name {
  std::string given;
  std::string in_json;
  std::string in_text;
};
const std::vector<Name>& names() {
  static const std::vector<Name> all{
      {"plain", "plain", "plain"},
      {"\x1b[31mred\x07", "\x1b[31mred\x07", "\\x1b[31mred\\x07"},
      {"two\nlines\r\t", "two\nlines\r\t", "two\\x0alines\\x0d\\x09"},
      {"\x7f", "\x7f", "\\x7f"},
      {"quote \" and \\", "quote \" and \\", "quote \" and \\"},
      {"<script>alert('&')</script>", "<script>alert('&')</script>", "<script>alert('&')</script>"},
      {"\"}],\"x\":[{\"", "\"}],\"x\":[{\"", "\"}],\"x\":[{\""},
      {"\xff\xfe", "\xef\xbf\xbd\xef\xbf\xbd", "\\xff\\xfe"},
      {"cut \xe2\x82", "cut \xef\xbf\xbd\xef\xbf\xbd", "cut \\xe2\\x82"},
      {"overlong \xc0\xaf", "overlong \xef\xbf\xbd\xef\xbf\xbd", "overlong \\xc0\\xaf"},
      {"next line \xc2\x85", "next line \xc2\x85", "next line \\xc2\\x85"},
      {"surrogate \xed\xa0\x80", "surrogate \xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd",
       "surrogate \\xed\\xa0\\x80"},
      {"caf\xc3\xa9 \xe6\xb0\xb4 \xf0\x9f\x98\x80", "caf\xc3\xa9 \xe6\xb0\xb4 \xf0\x9f\x98\x80",
       "caf\xc3\xa9 \xe6\xb0\xb4 \xf0\x9f\x98\x80"},
      {"semi;colon 5", "semi;colon 5", "semi;colon 5"},
  };
  return all;
}

TEST(HostileNames, StayWhatTheyAre) {
  const Runtime runtime = runtime_with(2);
  std::vector<TaskId> ids;
  for (const Name& name : names()) {
    ids.push_back(let_run(
        task::Builder().name(name.given).spawn_on(runtime.spawner(), pending_forever<void>())));
  }
  const Seen seen = see_idle(ids);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    EXPECT_EQ(seen.task(ids[i])["name"].string(), names()[i].in_json);
    EXPECT_THAT(seen.text_of(ids[i]),
                StartsWith("task " + std::to_string(ids[i]) + " \"" + names()[i].in_text + "\"  "));
  }
}

TEST(HostileNames, OfBlockingCalls) {
  Runtime runtime = runtime_with(1);
  auto main = [&]() -> Async<std::string> {
    co_return co_await task::Builder().name("\x1b\xff\"\n").spawn_blocking([] {
      return sight::dump().json();
    });
  };
  const Seen seen(runtime.block_on(main()));
  bool is_there = false;
  for (const Json* group : seen.groups()) {
    is_there = is_there || (*group)["name"].string() == "\x1b\xef\xbf\xbd\"\n";
  }
  EXPECT_TRUE(is_there);
}

TEST(HostileNames, ThatAreLongAreCut) {
  const Runtime runtime = runtime_with(2);
  // Cut in the midst of a character, too.
  const std::string odd = "x" + [] {
    std::string text;
    for (int i = 0; i < 100'000; ++i) text += "\xc3\xa9";
    return text;
  }();
  const TaskId plain = let_run(task::Builder()
                                   .name(std::string(1'000'000, 'n'))
                                   .spawn_on(runtime.spawner(), pending_forever<void>()));
  const TaskId cut =
      let_run(task::Builder().name(odd).spawn_on(runtime.spawner(), pending_forever<void>()));
  const Seen seen = see_idle({plain, cut});
  const std::string& shown = seen.task(plain)["name"].string();
  EXPECT_GE(shown.size(), 100U);
  EXPECT_LT(shown.size(), 2000U);
  EXPECT_EQ(shown, std::string(shown.size(), 'n'));
  EXPECT_THAT(seen.task(cut)["name"].string(), StartsWith("x\xc3\xa9"));
  EXPECT_LT(seen.text_of(cut).size(), 2000U);
}

TEST(HostileNames, OfSocketsOfPeers) {
  Runtime runtime = runtime_with(1);
  const std::string folder = ::testing::TempDir();
  const std::string path = folder + "sight\x1b[2J\"\xff.sock";
  ::unlink(path.c_str());
  auto main = [&]() -> Async<TaskId> {
    auto listener = co_await net::UnixListener::bind(path);
    auto accepts = [](net::UnixListener it) -> Async<void> { (void)co_await it.accept(); };
    co_return let_run(spawn(accepts, std::move(listener)));
  };
  const TaskId id = runtime.block_on(main());
  const Seen seen = see_idle({id});
  ::unlink(path.c_str());
  EXPECT_THAT(seen.text_of(id), HasSubstr("sight\\x1b[2J\"\\xff.sock"));
  EXPECT_THAT(seen.task(id)["waits"]["for"]["of"][0]["for"]["is"].string(),
              HasSubstr("sight\x1b[2J\"\xef\xbf\xbd.sock"));
}

}  // namespace
