// A trace beside a system that has no pages, no random numbers, or no room for the file.
#include "rouse/sight/trace.hpp"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rouse/sight/span.hpp"
#include "rouse/sight/start.hpp"
#include "rouse/sight/trace_context.hpp"

#include "faulty/errnos.hpp"
#include "faulty/harness.hpp"

namespace rouse::faulty {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

const std::vector<int>& errors_of(std::string_view call) {
  for (const Documented& entry : documented) {
    if (entry.call == call) return entry.errors;
  }
  std::abort();
}

class TraceFolder {
 public:
  TraceFolder() {
    std::string name = (fs::temp_directory_path() / "rouse_faulty_XXXXXX").string();
    EXPECT_NE(::mkdtemp(name.data()), nullptr);
    path_ = name;
  }
  TraceFolder(const TraceFolder&) = delete;
  TraceFolder& operator=(const TraceFolder&) = delete;
  ~TraceFolder() { fs::remove_all(path_); }
  std::string trace() const { return (path_ / "trace.json").string(); }
  /// Where this thread writes a trace at first.
  std::string part() const { return trace() + "." + std::to_string(::gettid()) + ".part"; }
  void clear() const {
    fs::remove(trace());
    fs::remove(part());
  }

 private:
  fs::path path_;
};

/// What one error of a call does to a trace: it is told, or the call is tried again.
void write_with(std::string_view call, int error, const TraceFolder& folder) {
  const Injection injection(Fault(call, error));
  const Result<void> written = sight::write_trace(folder.trace());
  const bool is_retried =
      error == EINTR || (call == "open" && error == EEXIST) || (call == "write" && error == EAGAIN);
  EXPECT_EQ(written.has_value(), is_retried) << call << ' ' << name_of_error(error);
  EXPECT_EQ(fs::exists(folder.trace()), is_retried);
  EXPECT_FALSE(fs::exists(folder.part()));
  add_row(call, name_of_error(error), "write_trace", injection.hits(),
          is_retried ? "tried again" : "the error, and no file");
}

TEST(FaultyTrace, WhatFailsIsToldAndLeavesNoFile) {
  const TraceFolder folder;
  for (const std::string_view call : {"open", "write", "rename"}) {
    for (const int error : errors_of(call)) {
      write_with(call, error, folder);
      folder.clear();
    }
  }
}

TEST(FaultyTrace, WhatCannotBeRemovedStays) {
  const TraceFolder folder;
  for (const int error : errors_of("unlink")) {
    {
      // One that another process left.
      std::ofstream(folder.part()) << "old";
      const Injection injection(Fault("unlink", error));
      EXPECT_EQ(sight::write_trace(folder.trace()).error(), std::errc::file_exists);
      add_row("unlink", name_of_error(error), "write_trace over a part", injection.hits(),
              "it exists");
    }
    folder.clear();
    {
      const Injection rename(Fault("rename", ENOSPC));
      const Injection injection(Fault("unlink", error));
      EXPECT_EQ(sight::write_trace(folder.trace()).error(), std::errc::no_space_on_device);
      EXPECT_TRUE(fs::exists(folder.part()));
      add_row("unlink", name_of_error(error), "write_trace that fails", injection.hits(),
              "the part stays");
    }
    folder.clear();
  }
}

TEST(FaultyTrace, WithoutPagesNothingIsRecorded) {
  for (const int error : errors_of("mmap")) {
    const TraceFolder folder;
    const auto recording = sight::start(sight::Options().record());
    const Injection injection(Fault("mmap", error).always());
    std::thread([] { sight::event("lost"); }).join();
    EXPECT_TRUE(sight::write_trace(folder.trace()));
    std::ifstream file(folder.trace());
    const std::string text(std::istreambuf_iterator<char>(file), {});
    EXPECT_THAT(text, HasSubstr("traceEvents"));
    EXPECT_THAT(text, Not(HasSubstr("lost")));
    add_row("mmap", name_of_error(error), "record", injection.hits(), "nothing is recorded");
  }
}

TEST(FaultyTrace, WithoutRandomNumbersTracesDifferAllTheSame) {
  for (const int error : errors_of("getrandom")) {
    const Fault fault("getrandom", error);
    const Injection injection(error == EINTR ? fault : fault.always());
    std::set<std::string> traces;
    for (int i = 0; i < 3; ++i) {
      std::thread([&] { traces.insert(sight::TraceContext::generate().to_string()); }).join();
    }
    EXPECT_EQ(traces.size(), 3U);
    add_row("getrandom", name_of_error(error), "TraceContext::generate", injection.hits(),
            error == EINTR ? "tried again" : "time and address");
  }
}

}  // namespace
}  // namespace rouse::faulty
