#include "faulty/allocations.hpp"

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <new>
#include <thread>

#include <gtest/gtest.h>

#include "faulty/harness.hpp"

namespace {

/// Counts down while one is to fail; that one finds 0.
std::atomic<long> until_failure{-1};
std::atomic<bool> has_failed_now{false};
std::atomic<bool> fails_from_then_on{false};
std::atomic<std::chrono::milliseconds> time_to_fail{};

bool is_to_fail() noexcept {
  if (has_failed_now.load(std::memory_order_relaxed) && fails_from_then_on.load()) return true;
  if (until_failure.load(std::memory_order_relaxed) < 0) return false;
  if (until_failure.fetch_sub(1) != 0) return false;
  has_failed_now.store(true);
  const auto takes = time_to_fail.load();
  if (takes != takes.zero()) std::this_thread::sleep_for(takes);
  return true;
}

}  // namespace

// NOLINTBEGIN(bugprone-reserved-identifier): the linker wants these names.
extern "C" {

/// rouse::internal::allocate_class, the pool of blocks.
void* __real__ZN5rouse8internal14allocate_classEm(std::size_t index);
void* __wrap__ZN5rouse8internal14allocate_classEm(std::size_t index) {
  if (is_to_fail()) throw std::bad_alloc();
  return __real__ZN5rouse8internal14allocate_classEm(index);
}

}  // extern "C"
// NOLINTEND(bugprone-reserved-identifier)

namespace rouse::faulty {

FailingAllocation::FailingAllocation(long skip, Failing how,
                                     std::chrono::milliseconds takes) noexcept {
  time_to_fail.store(takes);
  has_failed_now.store(false);
  fails_from_then_on.store(how == Failing::from_then_on);
  until_failure.store(skip);
}
FailingAllocation::~FailingAllocation() {
  until_failure.store(-1);
  fails_from_then_on.store(false);
}
bool FailingAllocation::has_failed() const noexcept { return has_failed_now.load(); }

namespace {

/// True: an allocation has failed.
bool try_allocation(Runtime& rt, const std::function<void(Runtime&)>& scenario, long number,
                    Failing how, const std::string& label) {
  const ::testing::ScopedTrace trace(__FILE__, __LINE__, label);
  const Watchdog watchdog(label);
  const auto before = open_descriptors();
  bool has_failed = false;
  std::error_code code;
  {
    const FailingAllocation failing(number, how);
    code = outcome_of([&] { scenario(rt); });
    has_failed = failing.has_failed();
  }
  EXPECT_TRUE(!code || (has_failed && code == std::errc::not_enough_memory)) << code.message();
  expect_healthy(rt, before);
  return has_failed;
}

void try_each_allocation(const std::string& name, const std::function<void(Runtime&)>& scenario,
                         On kind, Failing how) {
  const std::string where = " of '" + name + "'" +
                            (how == Failing::once ? "" : ", and all after it,") +
                            (kind == On::current_thread ? " on one thread" : " on two workers");
  const ThreadsEnd threads_end;
  Runtime rt = make_runtime(kind);
  rt.block_on(echo());
  const auto fails_after = [&](long number) {
    const std::string label = "allocation " + std::to_string(number + 1) + where;
    return try_allocation(rt, scenario, number, how, label);
  };
  constexpr long absurd = 3000;
  long number = 0;
  while (number < absurd && !::testing::Test::HasFailure() && fails_after(number)) ++number;
  EXPECT_LT(number, absurd) << name << ": does it never end?";
  EXPECT_GT(number, 0) << name << ": allocates nothing";
  add_row("an allocation", how == Failing::once ? "bad_alloc" : "bad_alloc from then on", name,
          number, "reported, or done without");
}

}  // namespace

void try_each_allocation(const std::string& name, const std::function<void(Runtime&)>& scenario) {
  for (const On kind : {On::current_thread, On::two_workers}) {
    for (const Failing how : {Failing::once, Failing::from_then_on}) {
      try_each_allocation(name, scenario, kind, how);
      if (::testing::Test::HasFailure()) return;
    }
  }
}
void try_each_allocation(const std::string& name, Async<void> (*scenario)()) {
  try_each_allocation(name, [scenario](Runtime& rt) { rt.block_on(scenario()); });
}

}  // namespace rouse::faulty

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define ROUSE_TEST_THREAD_SANITIZER
#endif
#endif
#if !defined(ROUSE_TEST_THREAD_SANITIZER) && !defined(__SANITIZE_THREAD__)

namespace {

void* allocate(std::size_t size) noexcept {
  return is_to_fail() ? nullptr : std::malloc(size == 0 ? 1 : size);
}
void* allocate(std::size_t size, std::align_val_t alignment) noexcept {
  const auto to = static_cast<std::size_t>(alignment);
  return is_to_fail() ? nullptr : std::aligned_alloc(to, (size + to - 1) / to * to);
}
void* or_throw(void* memory) {
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(std::size_t size) { return or_throw(allocate(size)); }
void* operator new[](std::size_t size) { return or_throw(allocate(size)); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return allocate(size); }
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept { return allocate(size); }
void* operator new(std::size_t size, std::align_val_t to) { return or_throw(allocate(size, to)); }
void* operator new[](std::size_t size, std::align_val_t to) { return or_throw(allocate(size, to)); }
void* operator new(std::size_t size, std::align_val_t to, const std::nothrow_t&) noexcept {
  return allocate(size, to);
}
void* operator new[](std::size_t size, std::align_val_t to, const std::nothrow_t&) noexcept {
  return allocate(size, to);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

#endif
