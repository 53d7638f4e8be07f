#include "sys/thread.hpp"

#include <functional>
#include <memory>
#include <new>
#include <unistd.h>

#include "rouse/base/assert.hpp"

namespace rouse::sys {
namespace {

constexpr std::size_t longest_name = 15;

struct Start {
  std::string name;
  std::function<void()> body;
};

void run(Start& start) noexcept {
  if (!start.name.empty()) ::pthread_setname_np(::pthread_self(), start.name.c_str());
  start.body();
}

void* thread_main(void* start) {
  const std::unique_ptr<Start> owned(static_cast<Start*>(start));
  run(*owned);
  return nullptr;
}

class Attributes {
 public:
  Attributes() noexcept { error_ = ::pthread_attr_init(&attributes_); }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;
  ~Attributes() { ::pthread_attr_destroy(&attributes_); }

  void set_stack_size(std::size_t size) noexcept {
    if (error_ == 0) error_ = ::pthread_attr_setstacksize(&attributes_, size);
  }
  int error() const noexcept { return error_; }
  const pthread_attr_t* get() const noexcept { return &attributes_; }

 private:
  pthread_attr_t attributes_{};
  int error_ = 0;
};

std::error_code system_error(int error) noexcept { return {error, std::generic_category()}; }

constinit thread_local ThreadId own_id = 0;  // until it is asked for
/// In a forked child this thread is another one.
[[maybe_unused]] const bool forks_are_watched =
    ::pthread_atfork(nullptr, nullptr, [] { own_id = 0; }) == 0;

}  // namespace

Result<Thread> Thread::start(const ThreadOptions& options, std::function<void()> body) noexcept {
  Attributes attributes;
  if (options.stack_size != 0) attributes.set_stack_size(options.stack_size);
  if (attributes.error() != 0) return system_error(attributes.error());
  try {
    auto start = std::make_unique<Start>(
        Start{.name = options.name.substr(0, longest_name), .body = std::move(body)});
    pthread_t handle{};
    const int error = ::pthread_create(&handle, attributes.get(), thread_main, start.get());
    if (error != 0) return system_error(error);
    [[maybe_unused]] const Start* const threads_own = start.release();
    return Thread(handle);
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

bool Thread::is_current() const noexcept {
  return joinable_ && ::pthread_equal(handle_, ::pthread_self()) != 0;
}

void Thread::join() noexcept {
  ROUSE_ASSERT(joinable_, "join of a thread that was joined or detached before");
  joinable_ = false;
  const int error = ::pthread_join(handle_, nullptr);
  ROUSE_ASSERT(error == 0, "a thread can't be joined: does it join itself?");
}

void Thread::detach() noexcept {
  ROUSE_ASSERT(joinable_, "detach of a thread that was joined or detached before");
  joinable_ = false;
  ::pthread_detach(handle_);
}

ThreadId this_thread_id() noexcept {
  if (own_id == 0) [[unlikely]]
    own_id = ::gettid();
  return own_id;
}

std::size_t min_stack_size() noexcept { return static_cast<std::size_t>(PTHREAD_STACK_MIN); }

}  // namespace rouse::sys
