#include "faulty/harness.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <netdb.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "rouse/net/tcp_listener.hpp"
#include "rouse/net/tcp_stream.hpp"
#include "rouse/process/command.hpp"
#include "rouse/time/sleep.hpp"

#include "faulty/errnos.hpp"
#include "support/sanitizer.hpp"

namespace rouse::faulty {
namespace {

using std::chrono::milliseconds;

/// One thread for the whole program: it must not be started while starting threads fails.
class WatchingThread {
 public:
  WatchingThread() : thread_([this] { run(); }) {}
  WatchingThread(const WatchingThread&) = delete;
  WatchingThread& operator=(const WatchingThread&) = delete;
  ~WatchingThread() {
    {
      const std::lock_guard lock(mutex_);
      ends_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  void begin(std::string name) {
    const std::lock_guard lock(mutex_);
    name_ = std::move(name);
    ticks_ = 0;
  }
  void end() { begin(""); }

 private:
  void run() {
    constexpr int too_many = test::sanitized ? 1200 : 300;  // of 100 ms
    std::unique_lock lock(mutex_);
    while (!ends_) {
      changed_.wait_for(lock, milliseconds(100));
      if (name_.empty() || ++ticks_ < too_many) continue;
      std::fprintf(stderr, "it hangs: %s\n", name_.c_str());
      std::abort();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::string name_;
  int ticks_ = 0;
  bool ends_ = false;
  std::thread thread_;
};

WatchingThread& watching_thread() {
  static WatchingThread thread;
  return thread;
}

Async<void> serve_one(net::TcpListener listener) {
  auto accepted = co_await listener.accept();
  std::array<char, 16> buf;
  while (const std::size_t size = co_await accepted.stream.read(buf)) {
    co_await accepted.stream.write_all(std::string_view(buf.data(), size));
  }
}

std::string name_of_lookup_error(int error) {
  static const std::map<int, const char*> names{
      {EAI_ADDRFAMILY, "EAI_ADDRFAMILY"}, {EAI_AGAIN, "EAI_AGAIN"},
      {EAI_BADFLAGS, "EAI_BADFLAGS"},     {EAI_FAIL, "EAI_FAIL"},
      {EAI_FAMILY, "EAI_FAMILY"},         {EAI_MEMORY, "EAI_MEMORY"},
      {EAI_NODATA, "EAI_NODATA"},         {EAI_NONAME, "EAI_NONAME"},
      {EAI_SERVICE, "EAI_SERVICE"},       {EAI_SOCKTYPE, "EAI_SOCKTYPE"}};
  return names.at(error);
}

/// Beside the program, for check_table.py.
const std::string& rows_folder() {
  static const std::string folder =
      std::filesystem::read_symlink("/proc/self/exe").parent_path() / "rows";
  return folder;
}

bool has_children() {
  siginfo_t info{};
  return ::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

Async<void> until_no_children() {
  for (int i = 0; i < 20 && has_children(); ++i) co_await sleep(milliseconds(1));
}

std::size_t thread_count() {
  const std::filesystem::directory_iterator threads("/proc/self/task");
  return static_cast<std::size_t>(std::distance(begin(threads), end(threads)));
}

/// One that was dropped may be told of that only when its runtime works.
bool tasks_are_gone(Runtime& rt) {
  for (int i = 0; i < 3000 && rt.metrics().alive_tasks != 0; ++i) {
    rt.block_on(sleep(milliseconds(1)));
  }
  return rt.metrics().alive_tasks == 0;
}

}  // namespace

Watchdog::Watchdog(std::string name) { watching_thread().begin(std::move(name)); }
Watchdog::~Watchdog() { watching_thread().end(); }

std::set<std::string> open_descriptors() {
  std::set<std::string> open;
  DIR* const folder = ::opendir("/proc/self/fd");
  while (const dirent* entry = ::readdir(folder)) {
    const std::string path = std::string("/proc/self/fd/") + entry->d_name;
    char target[256];
    const ssize_t size = ::readlink(path.c_str(), target, sizeof target);
    if (size < 0 || std::atoi(entry->d_name) == ::dirfd(folder)) continue;
    open.insert(std::string(entry->d_name) + " -> " +
                std::string(target, static_cast<std::size_t>(size)));
  }
  ::closedir(folder);
  return open;
}

std::set<std::string> left_open(const std::set<std::string>& before) {
  std::set<std::string> left;
  for (int i = 0; i < 3000; ++i) {
    left.clear();
    const std::set<std::string> now = open_descriptors();
    std::ranges::set_difference(now, before, std::inserter(left, left.end()));
    if (left.empty()) break;
    std::this_thread::sleep_for(milliseconds(1));  // a blocking thread may be about to close it
  }
  return left;
}

/// What no runtime waits for is taken note of with the next child.
bool children_are_gone(Runtime& rt) {
  for (int i = 0; i < 100 && has_children(); ++i) {
    rt.block_on(until_no_children());
    if (has_children()) rt.block_on(process::Command("/bin/true").status());
  }
  return !has_children();
}

void expect_healthy(Runtime& rt, const std::set<std::string>& before) {
  EXPECT_TRUE(children_are_gone(rt));
  rt.block_on(echo());
  EXPECT_TRUE(tasks_are_gone(rt));
  EXPECT_THAT(left_open(before), ::testing::IsEmpty());
}

ThreadsEnd::ThreadsEnd() {
  watching_thread();  // stays
  before_ = thread_count();
}
ThreadsEnd::~ThreadsEnd() {
  for (int i = 0; i < 3000 && thread_count() > before_; ++i) {
    std::this_thread::sleep_for(milliseconds(1));  // those that nobody joins
  }
  EXPECT_LE(thread_count(), before_) << "threads are left";
}

Async<void> echo() {
  auto listener = co_await net::TcpListener::bind("127.0.0.1:0");
  const net::SocketAddr at = listener.local_addr();
  auto server = spawn(serve_one, std::move(listener));
  auto client = co_await net::TcpStream::connect(at);
  co_await client.write_all("healthy");
  std::array<char, 7> buf;
  co_await client.read_exact(buf);
  EXPECT_EQ(std::string_view(buf.data(), buf.size()), "healthy");
  co_await client.shutdown();
  co_await std::move(server);
}

Async<void> exchange() {
  auto listener = co_await net::TcpListener::bind("127.0.0.1:0");
  auto client = co_await net::TcpStream::connect(listener.local_addr());
  auto accepted = co_await listener.accept();
  co_await client.write_all("there");
  std::array<char, 5> buf;
  co_await accepted.stream.read_exact(buf);
  EXPECT_EQ(std::string_view(buf.data(), buf.size()), "there");
  co_await accepted.stream.write_all("back!");
  co_await client.read_exact(buf);
  EXPECT_EQ(std::string_view(buf.data(), buf.size()), "back!");
  co_await client.shutdown();
  {
    const net::TcpStream gone = std::move(client);
  }
  EXPECT_EQ(co_await accepted.stream.read(buf), 0U);
}

std::string name_of_error(int error) {
  if (error < 0) return name_of_lookup_error(error);
  const char* const name = ::strerrorname_np(error);
  return name != nullptr ? name : std::to_string(error);
}

std::error_code outcome_of(const std::function<void()>& scenario) {
  try {
    scenario();
    return {};
  } catch (const std::system_error& error) {
    return error.code();
  } catch (const std::bad_alloc&) {
    return std::make_error_code(std::errc::not_enough_memory);
  }
}

void add_row(std::string_view call, std::string_view error, std::string_view scenario, long sites,
             std::string_view outcome) {
  const auto& test = *::testing::UnitTest::GetInstance()->current_test_info();
  const std::string name = std::string(test.test_suite_name()) + '.' + test.name();
  static std::set<std::string> begun;
  const bool is_new = begun.insert(name).second;
  std::ofstream file(rows_folder() + '/' + name + ".tsv", is_new ? std::ios::out : std::ios::app);
  file << call << '\t' << error << '\t' << scenario << '\t' << sites << '\t' << outcome << '\n';
}

Runtime make_runtime(On kind) {
  if (kind == On::current_thread) return Runtime::builder().current_thread().build();
  constexpr int workers = 2;
  const auto started = std::make_shared<std::atomic<int>>(0);
  auto builder = Runtime::builder();
  builder.worker_threads(workers).on_thread_start([started] {
    started->fetch_add(1);
    started->notify_one();
  });
  Runtime rt = builder.build();
  // A sanitizer makes calls of its own when a thread starts: these are not to fail.
  for (int count = 0; (count = started->load()) < workers;) started->wait(count);
  return rt;
}

// --- Site. ---

Site& Site::expect(Errors errors, const std::string& why) {
  for (const int error : errors) expected_[error] = {.code = {}, .why = why};
  return *this;
}

Site& Site::reported_as(int error, std::error_code code, std::string why) {
  expected_[error] = {.code = code, .why = std::move(why)};
  return *this;
}

std::string Site::outcome_text(int error) const {
  if (const auto found = expected_.find(error); found != expected_.end()) return found->second.why;
  return default_.empty() ? "reported" : default_;
}

void Site::check(int error, std::error_code code) const {
  const auto found = expected_.find(error);
  if (found != expected_.end()) {
    EXPECT_EQ(code, found->second.code) << code.message();
  } else if (check_) {
    check_(error, code);
  } else if (!default_.empty()) {
    EXPECT_FALSE(code) << code.message();
  } else {
    EXPECT_EQ(code.value(), error) << code.message();
    if (error > 0) {
      EXPECT_TRUE(code.category() == std::system_category() ||
                  code.category() == std::generic_category());
    }
  }
}

bool Site::try_use(Runtime& rt, const Fault& fault, int error, const std::string& label) {
  const ::testing::ScopedTrace trace(__FILE__, __LINE__, label);
  const Watchdog watchdog(label);
  const auto before = open_descriptors();
  long hits = 0;
  {
    const Injection injection(fault);
    const std::error_code code = outcome_of([&] { scenario_(rt); });
    hits = injection.hits();
    if (hits != 0) {
      check(error, code);
    } else {
      EXPECT_FALSE(code) << "without any fault: " << code.message();
    }
  }
  expect_healthy(rt, before);
  return hits != 0;
}

void Site::try_error(On kind, Runtime& rt, int error) {
  const std::string label = std::string(call_) + " fails with " + name_of_error(error) + " in '" +
                            name_ + "' on " +
                            (kind == On::current_thread ? "one thread" : "two workers");
  const auto fails_after = [&](long uses) {
    const Fault fault = Fault(call_, error).after(uses);
    return try_use(rt, fault, error, label + ", use " + std::to_string(uses + 1));
  };
  constexpr long absurd = 100;
  const long most = first_uses_.value_or(absurd);
  long uses = 0;
  while (uses < most && !::testing::Test::HasFailure() && fails_after(uses)) ++uses;
  EXPECT_GT(uses, 0) << label << ": never called";
  EXPECT_LT(uses, absurd) << label << ": does it never end?";
  constexpr long never = 1'000'000'000;
  if (uses == most) {
    EXPECT_FALSE(fails_after(never)) << label;
  }
  add_row(call_, name_of_error(error), name_, uses, outcome_text(error));
}

void Site::try_all() {
  const auto found = std::ranges::find(documented, call_, &Documented::call);
  ASSERT_NE(found, documented.end()) << call_ << " is not in errnos.hpp";
  for (const On kind : kinds_) {
    const ThreadsEnd threads_end;
    Runtime rt = make_runtime(kind);
    rt.block_on(echo());
    for (const int error : found->errors) {
      if (!left_out_.contains(error)) try_error(kind, rt, error);
      if (::testing::Test::HasFailure()) return;
    }
  }
}

void Site::try_short() {
  for (const On kind : kinds_) {
    const ThreadsEnd threads_end;
    Runtime rt = make_runtime(kind);
    const std::string label = std::string(call_) + " one at a time in '" + name_ + "'";
    EXPECT_TRUE(try_use(rt, Fault::shortened(call_, 1), 0, label)) << label << ": never called";
    add_row(call_, "1 at a time", name_, 1, "all bytes arrive");
  }
}

}  // namespace rouse::faulty
