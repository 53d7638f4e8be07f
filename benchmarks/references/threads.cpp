#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "references/rows.hpp"
#include "support/measure.hpp"
#include "support/wake_latency.hpp"

namespace bench {
namespace {

constexpr std::size_t cache_line = 64;

/// A word with a cache line of its own: one thread writes it, the other waits for it.
struct alignas(cache_line) Line {
  void set(long to) { value.store(to, std::memory_order_release); }
  void wait_for(long expected) const {
    while (value.load(std::memory_order_acquire) != expected) {
    }
  }
  std::atomic<long> value = 0;
};

/// For one thread that pushes and one that pops. Each remembers how far the other was when it
/// looked last, and looks again only when that is not enough.
class Ring {
 public:
  static constexpr std::size_t capacity = 1024;

  bool try_push(std::uint64_t value) {
    const std::size_t at = pushed_.load(std::memory_order_relaxed);
    if (at - popped_seen_ == capacity) {
      popped_seen_ = popped_.load(std::memory_order_acquire);
      if (at - popped_seen_ == capacity) return false;
    }
    slots_[at % capacity] = value;
    pushed_.store(at + 1, std::memory_order_release);
    return true;
  }

  bool try_pop(std::uint64_t& value) {
    const std::size_t at = popped_.load(std::memory_order_relaxed);
    if (at == pushed_seen_) {
      pushed_seen_ = pushed_.load(std::memory_order_acquire);
      if (at == pushed_seen_) return false;
    }
    value = slots_[at % capacity];
    popped_.store(at + 1, std::memory_order_release);
    return true;
  }

 private:
  alignas(cache_line) std::atomic<std::size_t> pushed_ = 0;
  std::size_t popped_seen_ = 0;
  alignas(cache_line) std::atomic<std::size_t> popped_ = 0;
  std::size_t pushed_seen_ = 0;
  alignas(cache_line) std::array<std::uint64_t, capacity> slots_{};
};

std::uint64_t fill_and_drain(Ring& ring, std::uint64_t count) {
  std::uint64_t sum = 0;
  std::uint64_t value = 0;
  for (std::uint64_t sent = 0; sent < count;) {
    while (sent < count && ring.try_push(sent)) ++sent;
    while (ring.try_pop(value)) sum += value;
  }
  return sum;
}

std::uint64_t send_and_receive(Ring& ring, std::uint64_t count) {
  const std::jthread sender([&] {
    for (std::uint64_t sent = 0; sent < count;) {
      if (ring.try_push(sent)) ++sent;
    }
  });
  std::uint64_t sum = 0;
  std::uint64_t value = 0;
  for (std::uint64_t received = 0; received < count;) {
    if (!ring.try_pop(value)) continue;
    sum += value;
    ++received;
  }
  return sum;
}

}  // namespace

Values ping_pong(unsigned workers, long n) {
  if (workers != 2) return {};
  return {mean_ns(n, [&] {
    Line ping;
    Line pong;
    const std::jthread partner([&] {
      for (long i = 1; i <= n; ++i) {
        ping.wait_for(i);
        pong.set(i);
      }
    });
    for (long i = 1; i <= n; ++i) {
      ping.set(i);
      pong.wait_for(i);
    }
  })};
}

Values mpsc_1x1(unsigned workers, long n) {
  if (workers != 1 && workers != 2) return {};
  const auto work = workers == 1 ? fill_and_drain : send_and_receive;
  const auto count = static_cast<std::uint64_t>(n);
  Ring ring;
  return {mean_ns(n, [&] { check(work(ring, count) == count * (count - 1) / 2); })};
}

Values mutex(unsigned workers, long n) {
  if (workers == 0) return {};
  const long each = n / workers;
  const long locks = each * workers;
  return {mean_ns(locks, [&] {
    std::mutex lock;
    long value = 0;
    {
      std::vector<std::jthread> threads;
      for (unsigned i = 0; i < workers; ++i) {
        threads.emplace_back([&] {
          for (long k = 0; k < each; ++k) {
            const std::lock_guard guard(lock);
            ++value;
            keep(value);
          }
        });
      }
    }
    check(value == locks);
  })};
}

Values wake_latency(unsigned workers, long n) {
  if (workers != 1) return {};
  WakeLatency latency;
  std::atomic<int> turn = 0;  // of a size that a futex has: wait() is the system call
  const std::jthread sleeper([&] {
    for (int i = 0; i < n; ++i) {
      turn.wait(i);
      latency.note();
    }
  });
  return latency.measure(n, [&] {
    turn.fetch_add(1);
    turn.notify_one();
  });
}

}  // namespace bench
