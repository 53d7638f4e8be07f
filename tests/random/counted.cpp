#include "random/counted.hpp"

#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstdlib>

namespace rouse::random_program {
namespace {

constexpr std::size_t max_slots = 4096;  // and one for all that do not fit

std::atomic<long> tokens{0};
std::atomic<long> parts{0};
std::atomic<long> threads{0};
std::atomic<long> blocked_threads{0};
std::atomic<long> most_blocked_threads{0};
std::atomic<std::size_t> slots_used{0};

}  // namespace

struct Part::Slot {
  std::atomic<const char*> doing{nullptr};
  std::atomic<std::uint64_t> seed{0};
};
Part::Slot Part::slots[max_slots + 1];

void fail(const char* what) noexcept {
  std::fprintf(stderr, "random program: %s\n", what);
  std::abort();
}

void Token::count(int change) noexcept { tokens.fetch_add(change, std::memory_order_relaxed); }
long Token::live() noexcept { return tokens.load(std::memory_order_relaxed); }

Part::Part(std::uint64_t seed) noexcept {
  const std::size_t index = slots_used.fetch_add(1, std::memory_order_relaxed);
  slot_ = &slots[index < max_slots ? index : max_slots];
  slot_->seed.store(seed, std::memory_order_relaxed);
  is_doing("nothing yet");
  parts.fetch_add(1, std::memory_order_relaxed);
}

Part::~Part() {
  if (slot_ == nullptr) return;
  slot_->doing.store(nullptr, std::memory_order_relaxed);
  // ORDER: release; whoever sees that none is left may destroy what they used.
  parts.fetch_sub(1, std::memory_order_release);
}

void Part::is_doing(const char* what) noexcept {
  slot_->doing.store(what, std::memory_order_relaxed);
}

long Part::live() noexcept {
  return parts.load(std::memory_order_acquire);  // ORDER: acquire; see ~Part
}

void Part::start_anew() noexcept {
  for (Slot& slot : slots) slot.doing.store(nullptr, std::memory_order_relaxed);
  slots_used.store(0, std::memory_order_relaxed);
}

void Part::print_all() noexcept {
  std::fprintf(stderr, "%ld parts, %ld objects, %ld threads; what the parts are doing:\n", live(),
               Token::live(), Threads::live());
  for (const Slot& slot : slots) {
    const char* doing = slot.doing.load(std::memory_order_relaxed);
    if (doing == nullptr) continue;
    std::fprintf(stderr, "  %016llx %s\n",
                 static_cast<unsigned long long>(slot.seed.load(std::memory_order_relaxed)), doing);
  }
}

void Threads::started() noexcept { threads.fetch_add(1, std::memory_order_relaxed); }
void Threads::stopped() noexcept { threads.fetch_sub(1, std::memory_order_release); }
long Threads::live() noexcept { return threads.load(std::memory_order_acquire); }

void BlockedThreads::set_limit(long most) noexcept {
  most_blocked_threads.store(most, std::memory_order_relaxed);
}
void BlockedThreads::one_more() noexcept {
  if (blocked_threads.fetch_add(1, std::memory_order_relaxed) >=
      most_blocked_threads.load(std::memory_order_relaxed)) {
    fail("more threads block than there are workers and max_blocking_threads");
  }
}
void BlockedThreads::one_less() noexcept {
  blocked_threads.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace rouse::random_program
