// The sys seam's threads as threads of a model. The handle is the thread's number.
#include "sys/thread.hpp"

#include <functional>
#include <memory>
#include <new>

#include "rouse/base/assert.hpp"
#include "rouse/model/internal/hooks.hpp"

namespace rouse::sys {

Result<Thread> Thread::start(const ThreadOptions&, std::function<void()> body) noexcept {
  try {
    auto call = std::make_unique<std::function<void()>>(std::move(body));
    const auto run = [](void* data) {
      const std::unique_ptr<std::function<void()>> owned(static_cast<std::function<void()>*>(data));
      (*owned)();
    };
    const std::uint32_t number = model::thread_start(run, call.get(), model::Where::current());
    [[maybe_unused]] const auto* const threads_own = call.release();
    return Thread(pthread_t{number});
  } catch (const std::bad_alloc&) {
    return std::errc::not_enough_memory;
  }
}

Thread& Thread::operator=(Thread&& other) noexcept {
  ROUSE_ASSERT(!joinable_, "a thread was replaced before it was joined or detached");
  handle_ = other.handle_;
  joinable_ = std::exchange(other.joinable_, false);
  return *this;
}

Thread::~Thread() {
  ROUSE_ASSERT(!joinable_, "a thread was destroyed before it was joined or detached");
}

bool Thread::is_current() const noexcept { return joinable_ && handle_ == model::current_thread(); }

void Thread::join() noexcept {
  ROUSE_ASSERT(joinable_, "join of a thread that was joined or detached before");
  joinable_ = false;
  model::thread_join(static_cast<std::uint32_t>(handle_), model::Where::current());
}

void Thread::detach() noexcept {
  ROUSE_ASSERT(joinable_, "detach of a thread that was joined or detached before");
  joinable_ = false;
}

/// Never 0: that is no thread.
ThreadId this_thread_id() noexcept { return static_cast<ThreadId>(model::current_thread()) + 1; }

std::size_t min_stack_size() noexcept { return 16 * 1024; }

}  // namespace rouse::sys
