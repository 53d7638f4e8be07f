#include "rouse/thread/thread.hpp"

#include <memory>

#include "base/append_what.hpp"
#include "sys/console.hpp"
#include "sys/thread.hpp"

namespace rouse::internal {

void start_thread(const std::string& name, std::size_t stack_size, Box<ThreadBody> body) {
  sys::ThreadOptions options;
  options.name = name;
  options.stack_size = stack_size;
  // A std::function wants what can be copied.
  const auto shared = std::make_shared<Box<ThreadBody>>(std::move(body));
  auto thread = sys::Thread::start(options, [shared] {
    const Box<ThreadBody> own = std::move(*shared);
    own->run();
  });
  if (!thread) {
    throw std::system_error(thread.error(),
                            "thread::spawn: the system did not start a thread: raise its limit on "
                            "threads (ulimit -u), or ask for a stack size that it can give");
  }
  thread->detach();
}

namespace {

void print(const std::exception_ptr& error) {
  std::string line = "rouse: a thread ended with an exception that nobody joined: ";
  append_what(line, error);
  line += '\n';
  sys::write_stderr(line);
}

}  // namespace

void report_thread_exception(const std::exception_ptr& error) noexcept {
  try {
    print(error);
  } catch (const std::bad_alloc&) {
    sys::write_stderr(
        "rouse: a thread ended with an exception that nobody joined; there is no memory to say "
        "which\n");
  }
}

}  // namespace rouse::internal
