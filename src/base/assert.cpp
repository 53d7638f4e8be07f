#include "rouse/base/assert.hpp"

#include <string>

#include "base/assert_context.hpp"
#include "sys/console.hpp"

namespace sys = rouse::sys;

constinit rouse::internal::AppendContext rouse::internal::append_assert_context = nullptr;
constinit rouse::atomic<rouse::internal::BeforeAbort> rouse::internal::before_abort{nullptr};

void rouse::assert_failed(const char* file, int line, const char* message, const char* name,
                          const char* detail) noexcept {
  std::string text = "rouse: ";
  text += message;
  if (name) text.append("\n  in: ").append(name);
  if (detail) text.append("\n  ").append(detail);
  if (internal::append_assert_context) internal::append_assert_context(text);
  text.append("\n  (").append(file).append(":").append(std::to_string(line)).append(")\n");
  sys::write_stderr(text);
  // Once: it may fail an assertion itself.
  if (const auto call = internal::before_abort.exchange(nullptr, memory_order_relaxed)) call();
  sys::abort_process();
}
