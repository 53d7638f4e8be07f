// Traced: a trace, parsed, with what must be right of each checked.
#pragma once

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/sight/trace.hpp"

#include "sight/json.hpp"
#include "sight/seen.hpp"

namespace rouse::test {

/// What is written to a file.
template <class Write>
std::string written(Write write) {
  std::FILE* const file = std::tmpfile();
  write(::fileno(file));
  std::string text(static_cast<std::size_t>(::lseek(::fileno(file), 0, SEEK_END)), '\0');
  EXPECT_EQ(::pread(::fileno(file), text.data(), text.size(), 0),
            static_cast<ssize_t>(text.size()));
  std::fclose(file);
  return text;
}

/// What stands at the place that the arguments of an event name.
inline std::string line_of(const Json& args) {
  const std::string& path = args["code.file.path"].string();
  const std::vector<std::string> lines = lines_of(source_file(path.substr(path.rfind("tests/"))));
  const std::uint64_t line = args["code.line.number"].number();
  return line - 1 < lines.size() ? lines[line - 1] : "";
}

class Traced {
 public:
  explicit Traced(const std::string& text) : json_(Json::parse(text)) { check(); }
  static Traced now() {
    return Traced(written([](int fd) { EXPECT_TRUE(sight::trace_to(fd)); }));
  }

  [[nodiscard]] const std::vector<Json>& events() const { return json_["traceEvents"].items(); }
  /// Those of a phase and a name; without one all of the phase.
  [[nodiscard]] std::vector<Json> all(const std::string& phase,
                                      const std::string& name = "") const {
    std::vector<Json> found;
    for (const Json& event : events()) {
      if (event["ph"].string() != phase) continue;
      if (name.empty() || event["name"].string() == name) found.push_back(event);
    }
    return found;
  }
  [[nodiscard]] static std::vector<Json> of_task(const std::vector<Json>& events,
                                                 std::uint64_t id) {
    std::vector<Json> found;
    for (const Json& event : events) {
      if (event["args"]["rouse.task.id"].number() == id) found.push_back(event);
    }
    return found;
  }
  /// The ends of these slices, of those that are over.
  [[nodiscard]] std::vector<Json> ends_of(const std::vector<Json>& slices) const {
    std::map<std::uint64_t, std::vector<const Json*>> open;
    std::vector<Json> found;
    for (const Json& event : events()) {
      std::vector<const Json*>& here = open[event["tid"].number()];
      if (event["ph"].string() == "B") here.push_back(&event);
      if (event["ph"].string() != "E") continue;
      for (const Json& slice : slices) {
        if (slice == *here.back()) found.push_back(event);
      }
      here.pop_back();
    }
    return found;
  }
  /// The names of threads, by their numbers.
  [[nodiscard]] const std::map<std::uint64_t, std::string>& threads() const { return threads_; }
  [[nodiscard]] std::size_t arrows() const { return arrows_.size(); }

  static double time_of(const Json& event) { return event["ts"].real(); }

 private:
  /// Slices nest, time does not go back on a track, an arrow has two ends.
  void check() {
    std::map<std::uint64_t, std::vector<std::string>> open;
    std::map<std::uint64_t, double> last;
    std::set<std::uint64_t> ends;
    std::set<std::string> spans;
    for (const Json& event : events()) {
      const std::string& phase = event["ph"].string();
      const std::uint64_t track = event["tid"].number();
      if (phase == "M") {
        threads_[track] = event["args"]["name"].string();
        open[track].clear();
        last[track] = 0;
        continue;
      }
      ASSERT_EQ(event["ts"].type(), Json::Type::real);
      EXPECT_GE(time_of(event), last[track]) << "of " << event["name"].string();
      last[track] = time_of(event);
      if (phase == "B") open[track].push_back(event["name"].string());
      if (phase == "E") {
        ASSERT_FALSE(open[track].empty()) << "a slice ends that has not begun";
        open[track].pop_back();
      }
      if (phase == "s") {
        EXPECT_TRUE(arrows_.emplace(event["id"].number(), time_of(event)).second);
      }
      if (phase == "f") {
        EXPECT_TRUE(ends.insert(event["id"].number()).second);
        EXPECT_FALSE(open[track].empty()) << "an arrow ends in no slice";
      }
      if (phase == "b") {
        EXPECT_TRUE(spans.insert(event["id"].string()).second);
      }
    }
    for (const Json& event : events()) {
      if (event["ph"].string() == "e") {
        EXPECT_TRUE(spans.contains(event["id"].string()));
      }
      if (event["ph"].string() != "f") continue;
      const auto begin = arrows_.find(event["id"].number());
      ASSERT_NE(begin, arrows_.end()) << "an arrow without a begin";
      EXPECT_LE(begin->second, time_of(event));
    }
    EXPECT_EQ(ends.size(), arrows_.size()) << "an arrow without an end";
  }

  Json json_;
  std::map<std::uint64_t, std::string> threads_;
  std::map<std::uint64_t, double> arrows_;
};

}  // namespace rouse::test
