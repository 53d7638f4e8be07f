#include "rouse/base/assert.hpp"

#include <chrono>
#include <string>
#include <utility>

#include "rouse/base/thread.hpp"

#include "base/assert_context.hpp"
#include "sys/console.hpp"

namespace sys = rouse::sys;

constinit rouse::internal::AppendContext rouse::internal::append_assert_context = nullptr;
constinit rouse::atomic<rouse::internal::BeforeAbort> rouse::internal::before_abort{nullptr};

namespace {

/// Another thread is about to abort the process. It has something to write before, maybe to a disk
/// that does not answer.
void wait_for_the_end() noexcept {
  rouse::Mutex mutex;
  rouse::CondVar nobody_notifies;
  rouse::Lock lock(mutex);
  for (int i = 0; i < 100; ++i) {
    rouse::wait_for(nobody_notifies, lock, std::chrono::milliseconds(100));
  }
}

}  // namespace

void rouse::assert_failed(const char* file, int line, const char* message, const char* name,
                          const char* detail) noexcept {
  std::string text = "rouse: ";
  text += message;
  if (name) text.append("\n  in: ").append(name);
  if (detail) text.append("\n  ").append(detail);
  if (internal::append_assert_context) internal::append_assert_context(text);
  text.append("\n  (").append(file).append(":").append(std::to_string(line)).append(")\n");
  sys::write_stderr(text);
  // Once: it may fail an assertion itself. And one thread: others that fail meanwhile let it end.
  static constinit thread_local bool has_failed = false;
  if (!std::exchange(has_failed, true)) {
    if (const auto call = internal::before_abort.exchange(wait_for_the_end, memory_order_relaxed))
      call();
  }
  sys::abort_process();
}
