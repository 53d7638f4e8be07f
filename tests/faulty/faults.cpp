#include "faulty/faults.hpp"

#include <array>
#include <atomic>
#include <cstdlib>
#include <deque>
#include <string>
#include <sys/epoll.h>

#include "faulty/call_sites.hpp"

// NOLINTNEXTLINE(bugprone-reserved-identifier): the linker wants this name.
extern "C" int __real_epoll_ctl(int epoll, int what, int fd, epoll_event* event);

namespace rouse::faulty {

/// Never freed: a thread may still look at one that was disarmed just now.
class Injection::Armed {
 public:
  explicit Armed(const Fault& what) : fault(what), call(what.call) { fault.call = call; }

  bool take() noexcept {
    all_asked.fetch_add(1);
    const long number = seen_.fetch_add(1) - fault.skip;
    const bool hit = number >= 0 && (fault.times == Fault::every_time || number < fault.times);
    if (hit) hits_.fetch_add(1);
    return hit;
  }
  [[nodiscard]] long hits() const noexcept { return hits_.load(); }

  static inline std::atomic<long> all_asked{0};
  Fault fault;
  const std::string call;

 private:
  std::atomic<long> seen_{0};
  std::atomic<long> hits_{0};
};

namespace {

/// Injection::Armed, or null; pointers to void because that class is private.
std::array<std::atomic<void*>, 4> armed_now{};

struct Watched {
  std::atomic<int> epoll{-1};
  std::atomic<unsigned> events{0};
  std::atomic<unsigned long long> token{0};
};
std::array<Watched, 4096> watched;

Watched* watched_at(int fd) noexcept {
  const auto index = static_cast<std::size_t>(fd);
  return fd >= 0 && index < watched.size() ? &watched[index] : nullptr;
}

}  // namespace

Injection::Injection(const Fault& fault) {
  static auto& all = *new std::deque<Armed>;
  armed_ = &all.emplace_back(fault);
  for (auto& place : armed_now) {
    void* none = nullptr;
    if (place.compare_exchange_strong(none, armed_)) return;
  }
  std::abort();  // more than four
}

Injection::~Injection() {
  for (auto& place : armed_now) {
    void* mine = armed_;
    place.compare_exchange_strong(mine, nullptr);
  }
}

long Injection::hits() const noexcept { return armed_->hits(); }
long Injection::asked() noexcept { return Armed::all_asked.load(); }

Asked::Asked(std::string_view call, int fd) noexcept {
  for (const auto& place : armed_now) {
    auto* const armed = static_cast<Injection::Armed*>(place.load());
    if (armed == nullptr || armed->fault.call != call || !armed->take()) continue;
    error_ = armed->fault.error;
    at_most_ = armed->fault.at_most;
    if (error_ != 0) note_call_site(call, error_);
    if (error_ == EAGAIN || at_most_ != 0) tell_again(fd);
    return;
  }
}

void note_watched(int epoll, int fd, unsigned events, unsigned long long token) noexcept {
  Watched* const entry = watched_at(fd);
  if (entry == nullptr) return;
  entry->events.store(events);
  entry->token.store(token);
  entry->epoll.store(epoll);
}

void note_unwatched(int fd) noexcept {
  if (Watched* const entry = watched_at(fd)) entry->epoll.store(-1);
}

void tell_again(int fd) noexcept {
  const Watched* const entry = watched_at(fd);
  if (entry == nullptr || entry->epoll.load() < 0) return;
  epoll_event event{.events = entry->events.load(), .data = {.u64 = entry->token.load()}};
  const int error = errno;
  __real_epoll_ctl(entry->epoll.load(), EPOLL_CTL_MOD, fd, &event);
  errno = error;
}

}  // namespace rouse::faulty
