// Seen: a dump, checked in all its formats, and what it says of a task.
//
//   const TaskId id = handle.id();
//   const Seen seen = seen_idle({id});            // dumps until the task waits
//   EXPECT_EQ(seen.task(id)["waits"]["for"]["label"].string(), "Mutex");
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/exec/join_handle.hpp"
#include "rouse/exec/task_id.hpp"
#include "rouse/runtime/runtime.hpp"
#include "rouse/sight/dump.hpp"

#include "sight/json.hpp"
#include "support/sanitizer.hpp"

namespace rouse::test {

/// A file of this source tree, in which the tests were built.
inline std::string source_file(const std::string& path) {
  std::filesystem::path folder = std::filesystem::canonical("/proc/self/exe").parent_path();
  while (!std::filesystem::exists(folder / path) && folder.has_relative_path()) {
    folder = folder.parent_path();
  }
  std::ifstream file(folder / path);
  EXPECT_TRUE(file) << "nobody finds " << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

inline const JsonSchema& dump_schema() {
  static const JsonSchema schema(Json::parse(source_file("docs/sight.schema.json")));
  return schema;
}

/// Lines for a terminal: nothing in them does more than to be shown.
inline bool is_harmless(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = Json::utf8_length(text.substr(at));
    const auto first = static_cast<unsigned char>(text[at]);
    const bool is_control =
        (first < 0x20 && first != '\n') || first == 0x7f ||
        (length == 2 && first == 0xc2 && static_cast<unsigned char>(text[at + 1]) < 0xa0);
    if (length == 0 || is_control) return false;
    at += length;
  }
  return true;
}

inline std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

class Seen {
 public:
  explicit Seen(const sight::Report& report) : Seen(report.json()) {
    text_ = report.text();
    folded_ = report.folded();
    EXPECT_EQ(json_["tasks"].number(), report.tasks());
    EXPECT_TRUE(is_harmless(text_)) << text_;
    EXPECT_TRUE(is_harmless(folded_)) << folded_;
    expect_folded_is_whole();
  }
  /// Without the other formats.
  explicit Seen(std::string_view json) : json_(parse(json)) {
    EXPECT_EQ(dump_schema().problem_of(json_), "") << json.substr(0, 5000);
    expect_sums_are_right();
  }

  [[nodiscard]] const Json& json() const { return json_; }
  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] const std::string& folded() const { return folded_; }
  [[nodiscard]] std::vector<const Json*> groups() const {
    std::vector<const Json*> all;
    for (const Json& executor : json_["executors"].items()) {
      for (const Json& group : executor["groups"].items()) all.push_back(&group);
    }
    return all;
  }
  /// The group in which the id is named; null: there is none.
  [[nodiscard]] const Json* find(TaskId id) const {
    for (const Json* group : groups()) {
      if (has_id(*group, id)) return group;
    }
    return nullptr;
  }
  [[nodiscard]] const Json& task(TaskId id) const {
    static const Json none;
    const Json* const found = find(id);
    EXPECT_NE(found, nullptr) << "no task " << id << " in " << text_;
    return found == nullptr ? none : *found;
  }
  [[nodiscard]] std::string state_of(TaskId id) const {
    const Json* const found = find(id);
    return found == nullptr ? "" : (*found)["state"].string();
  }
  /// "pool", "local", "blocking".
  [[nodiscard]] std::string executor_of(TaskId id) const {
    for (const Json& executor : json_["executors"].items()) {
      for (const Json& group : executor["groups"].items()) {
        if (has_id(group, id)) return executor["kind"].string();
      }
    }
    return "";
  }
  /// Its lines in the text.
  [[nodiscard]] std::string text_of(TaskId id) const {
    std::string found;
    const std::string begin = "task " + std::to_string(id) + " ";
    for (const std::string& line : lines_of(text_)) {
      if (found.empty() ? line.starts_with(begin) : !line.empty()) {
        found += line + "\n";
      } else if (!found.empty()) {
        break;
      }
    }
    EXPECT_NE(found, "") << "no task " << id << " in " << text_;
    return found;
  }
  /// The groups that are at an await in whose source line is `code`, innermost.
  [[nodiscard]] std::vector<const Json*> at(const std::string& code) const;

 private:
  static Json parse(std::string_view json) {
    try {
      return Json::parse(json);
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what();
      return {};
    }
  }
  static bool has_id(const Json& group, TaskId id) {
    for (const Json& one : group["ids"].items()) {
      if (one.number() == id) return true;
    }
    return false;
  }
  void expect_sums_are_right() const {
    std::uint64_t tasks = 0;
    std::uint64_t shown = 0;
    std::uint64_t forgotten = 0;
    for (const Json& executor : json_["executors"].items()) {
      tasks += executor["tasks"].number();
      for (const Json& group : executor["groups"].items()) {
        const std::uint64_t count = group["count"].number();
        shown += count;
        forgotten += group.has("nobody_can_wake") ? count : 0;
        EXPECT_EQ(group["ids"].items().size(), count < 4 ? count : 4);
        for (const Json& id : group["ids"].items()) {
          EXPECT_LE(group["ids"][0].number(), id.number());
        }
      }
    }
    EXPECT_EQ(json_["tasks"].number(), tasks);
    EXPECT_EQ(json_["tasks"].number(), shown + json_["left_out"].number());
    EXPECT_EQ(json_["nobody_can_wake"].number(), forgotten);
  }
  /// Each line is what flame graphs want: names with semicolons, a space, a count.
  void expect_folded_is_whole() const {
    std::uint64_t shown = 0;
    for (const std::string& line : lines_of(folded_)) {
      const std::size_t space = line.rfind(' ');
      ASSERT_NE(space, std::string::npos) << line;
      ASSERT_EQ(line.find_first_not_of("0123456789", space + 1), std::string::npos) << line;
      shown += std::stoull(line.substr(space + 1));
      const std::string state = line.substr(0, line.find_first_of("; "));
      EXPECT_TRUE(state == "idle" || state == "queued" || state == "running" || state == "blocking")
          << line;
    }
    EXPECT_EQ(shown + json_["left_out"].number(), json_["tasks"].number());
  }

  Json json_;
  std::string text_;
  std::string folded_;
};

/// The line of source that a place of a dump names.
inline std::string source_line(const Json& place) {
  // The compiler may have seen it by another path.
  const std::string& file = place["file"].string();
  const std::size_t in_tree = file.find("tests/sight/");
  if (in_tree == std::string::npos) return "";
  const std::vector<std::string> lines = lines_of(source_file(file.substr(in_tree)));
  const std::uint64_t line = place["line"].number();
  return line == 0 || line > lines.size() ? "" : lines[line - 1];
}

inline std::vector<const Json*> Seen::at(const std::string& code) const {
  std::vector<const Json*> found;
  for (const Json* group : groups()) {
    const Json& innermost = (*group)["waits"]["at"][0];
    if (source_line(innermost).find(code) != std::string::npos) found.push_back(group);
  }
  return found;
}

/// A dump of now.
inline Seen see(const sight::DumpOptions& options = {}) { return Seen(sight::dump(options)); }

/// Dumps until `is_so(seen)`, and fails if that takes too long.
template <class Condition>
Seen see_when(Condition is_so) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  for (;;) {
    Seen seen = see(sight::DumpOptions().patience(std::chrono::milliseconds(10)));
    if (is_so(seen) || ::testing::Test::HasFailure()) return seen;
    if (std::chrono::steady_clock::now() > end) {
      ADD_FAILURE() << "this does not become so:\n" << seen.text();
      return seen;
    }
    std::this_thread::yield();
  }
}
/// Dumps until all of them wait.
inline Seen see_idle(const std::vector<TaskId>& ids) {
  return see_when([&](const Seen& seen) {
    for (const TaskId id : ids) {
      if (seen.state_of(id) != "idle") return false;
    }
    return true;
  });
}

/// Nobody joins it: its executor ends it.
template <class T>
TaskId let_run(JoinHandle<T> handle) {
  const TaskId id = handle.id();
  handle.detach();
  return id;
}

inline Runtime runtime_with(std::size_t workers) {
  return Runtime::builder().worker_threads(workers).build();
}

/// How long a dump may take, whatever happens.
inline constexpr std::chrono::seconds bound{sanitized ? 20 : 1};

}  // namespace rouse::test
