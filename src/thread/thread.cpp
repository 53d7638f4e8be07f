#include "rouse/thread/thread.hpp"

#include "sys/console.hpp"
#include "sys/thread.hpp"

namespace rouse::thread {

void start_thread(const std::string& name, std::size_t stack_size,
                  std::unique_ptr<ThreadBody> body) {
  sys::ThreadOptions options;
  options.name = name;
  options.stack_size = stack_size;
  // A std::function wants what can be copied.
  const auto shared = std::make_shared<std::unique_ptr<ThreadBody>>(std::move(body));
  auto thread = sys::Thread::start(options, [shared] {
    const std::unique_ptr<ThreadBody> own = std::move(*shared);
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
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& e) {
    line += e.what();
  } catch (...) {
    line += "not a std::exception";
  }
  line += '\n';
  sys::write_stderr(line);
}

}  // namespace

void report_unhandled(const std::exception_ptr& error) noexcept {
  try {
    print(error);
  } catch (const std::bad_alloc&) {
    sys::write_stderr(
        "rouse: a thread ended with an exception that nobody joined; there is no memory to say "
        "which\n");
  }
}

}  // namespace rouse::thread
