#include "faulty/allocations.hpp"

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

/// Counts down while one is to fail; that one finds 0.
std::atomic<long> until_failure{-1};
std::atomic<bool> has_failed_now{false};

}  // namespace

namespace rouse::faulty {

FailingAllocation::FailingAllocation(long skip) noexcept {
  has_failed_now.store(false);
  until_failure.store(skip);
}
FailingAllocation::~FailingAllocation() { until_failure.store(-1); }
bool FailingAllocation::has_failed() const noexcept { return has_failed_now.load(); }

}  // namespace rouse::faulty

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define ROUSE_TEST_THREAD_SANITIZER
#endif
#endif
#if !defined(ROUSE_TEST_THREAD_SANITIZER) && !defined(__SANITIZE_THREAD__)

namespace {

bool is_to_fail() noexcept {
  if (until_failure.load(std::memory_order_relaxed) < 0) return false;
  if (until_failure.fetch_sub(1) != 0) return false;
  has_failed_now.store(true);
  return true;
}

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
