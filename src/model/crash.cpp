#include "model/crash.hpp"

#include <cstdlib>
#include <memory>
#include <utility>

#include "model/execution.hpp"

namespace rouse::model {
namespace {

constexpr std::size_t signal_stack_bytes = 256 * 1024;

/// The text is made in the handler, which is not safe in general: here nothing of the thread goes
/// on. It may be in the engine, to which it gave the address of an object that is not there.
void on_signal(int signal) {
  const bool is_of_a_thread =
      running.execution != nullptr && running.system_thread == __builtin_thread_pointer();
  if (!is_of_a_thread || std::exchange(running.is_failing, true)) {
    std::signal(signal, SIG_DFL);
    std::raise(signal);
    return;
  }
  running.in_thread = false;
  running.execution->fail(
      Problem::crash, signal == SIGABRT
                          ? "abort was called"
                          : "the thread used memory that is not there, or its stack is too large "
                            "(signal " +
                                std::to_string(signal) + ")");
}

[[noreturn]] void on_terminate() {
  if (!inside()) std::abort();
  running.in_thread = false;
  running.execution->fail(Problem::exception,
                          "std::terminate was called: an exception left a noexcept function, or "
                          "came while another was being thrown");
}

}  // namespace

CatchCrashes::CatchCrashes()
    : stack_(std::make_unique<char[]>(signal_stack_bytes)),
      terminate_before_(std::set_terminate(on_terminate)) {
  stack_t stack{};
  stack.ss_sp = stack_.get();
  stack.ss_size = signal_stack_bytes;
  ::sigaltstack(&stack, &stack_before_);
  struct sigaction action{};
  action.sa_handler = on_signal;
  action.sa_flags = SA_ONSTACK | SA_NODEFER;  // the handler does not return
  for (std::size_t i = 0; i < signals_.size(); ++i) {
    ::sigaction(signals_[i], &action, &before_[i]);
  }
}

CatchCrashes::~CatchCrashes() {
  for (std::size_t i = 0; i < signals_.size(); ++i) {
    ::sigaction(signals_[i], &before_[i], nullptr);
  }
  ::sigaltstack(&stack_before_, nullptr);
  std::set_terminate(terminate_before_);
}

}  // namespace rouse::model
