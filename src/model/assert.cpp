// ROUSE_ASSERT in a model-checked build: in a model a failed assertion is a finding like any other.
#include "rouse/base/assert.hpp"

#include <string>

#include "base/assert_context.hpp"
#include "model/execution.hpp"
#include "sys/console.hpp"

/// Not asked: a finding has its own trace, and the task's is that of another thread.
constinit rouse::internal::AppendContext rouse::internal::append_assert_context = nullptr;
constinit rouse::atomic<rouse::internal::BeforeAbort> rouse::internal::before_abort{nullptr};

void rouse::assert_failed(const char* file, int line, const char* message, const char* name,
                          const char* detail) noexcept {
  const bool in_model = model::inside();
  model::running.in_thread = false;
  std::string text = message;
  if (name != nullptr) text.append("\n  in: ").append(name);
  if (detail != nullptr) text.append("\n  ").append(detail);
  text.append("\n  (").append(file).append(":").append(std::to_string(line)).append(")");
  if (in_model) model::running.execution->fail(model::Problem::failed_assert, text);
  sys::write_stderr("rouse: " + text + "\n");
  sys::abort_process();
}
