// Waits for standard input without blocking the executor, and prints the number read plus ten. A
// reactor, which is a thread that sleeps in epoll_wait, wakes the task when there is something to
// read. rouse has no reactor of its own yet; this one is the smallest that serves one descriptor.
// After "I/O multiplexing" of the texts that rouse began from.
#include <cstdio>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <thread>
#include <unistd.h>
#include <utility>

#include <rouse/rouse.hpp>

#include "support/fd.hpp"

namespace {

class Reactor {
 public:
  explicit Reactor(int watched) : watched_(watched) {
    epoll_event event{.events = EPOLLIN, .data = {.fd = stop_.get()}};
    check(::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, stop_.get(), &event), "epoll_ctl");
    if (!arm(EPOLL_CTL_ADD) && errno != EPERM) check(-1, "epoll_ctl");
    never_blocks_ = !armed_;  // a regular file: epoll refuses those
    thread_ = std::jthread([this] { run(); });
  }
  ~Reactor() { ::eventfd_write(stop_.get(), 1); }  // ends the thread, which is then joined

  /// True: there is something to read, or the end of it. If not, the waker is woken when there is.
  bool poll_readable(rouse::Context& cx) {
    const std::lock_guard lock(mutex_);
    if (never_blocks_ || std::exchange(readable_, false)) return true;
    rouse::keep_waker(waker_, cx);
    if (!armed_ && !arm(EPOLL_CTL_MOD)) check(-1, "epoll_ctl");
    return false;
  }

 private:
  bool arm(int operation) {  // for one event
    epoll_event event{.events = EPOLLIN | EPOLLONESHOT, .data = {.fd = watched_}};
    return armed_ = ::epoll_ctl(epoll_.get(), operation, watched_, &event) == 0;
  }

  void run() {
    for (epoll_event event{};;) {
      if (::epoll_wait(epoll_.get(), &event, 1, -1) < 1) continue;  // a signal
      if (event.data.fd == stop_.get()) return;
      rouse::Waker to_wake;
      {
        const std::lock_guard lock(mutex_);
        armed_ = false;
        readable_ = true;
        to_wake = std::exchange(waker_, {});
      }
      if (to_wake) std::move(to_wake).wake();
    }
  }

  const Fd epoll_{::epoll_create1(EPOLL_CLOEXEC), "epoll_create1"};
  const Fd stop_{::eventfd(0, EFD_CLOEXEC), "eventfd"};
  const int watched_;
  bool never_blocks_ = false;
  std::mutex mutex_;  // guards the rest
  bool armed_ = false;
  bool readable_ = false;
  rouse::Waker waker_;
  std::jthread thread_;
};

/// The first line of standard input.
class ReadLine {
 public:
  using Output = std::string;

  explicit ReadLine(Reactor& reactor) : reactor_(&reactor) {}

  rouse::Poll<std::string> poll(rouse::Context& cx) {
    while (reactor_->poll_readable(cx)) {
      char buffer[256];
      const ssize_t n = ::read(STDIN_FILENO, buffer, sizeof buffer);
      if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      line_.append(buffer, static_cast<std::size_t>(check(static_cast<int>(n), "read")));
      if (n > 0 && line_.find('\n') == std::string::npos) continue;
      return rouse::Poll<std::string>::ready(line_.substr(0, line_.find('\n')));
    }
    return rouse::pending;
  }

 private:
  Reactor* reactor_;
  std::string line_;
};

rouse::Async<const char*> plus_ten(ReadLine read_line) {
  const std::string line = co_await read_line;
  std::istringstream words(line);
  std::string more;
  int number = 0;
  if (!(words >> number) || words >> more) throw std::runtime_error("not a number: '" + line + "'");
  std::printf("stdin future result: %ld\n", long{number} + 10);
  co_return "stdin future done";
}

}  // namespace

int main() try {
  Reactor reactor(STDIN_FILENO);
  rouse::LocalExecutor executor;
  auto task = executor.spawn(plus_ten, ReadLine(reactor));
  std::puts(executor.run_until(task));
  std::puts("Task stdin task completed!");
} catch (const std::exception& error) {
  std::fprintf(stderr, "error: %s\n", error.what());
  return 1;
}
