#include "sys/thread_name.hpp"

#include <pthread.h>
#include <unistd.h>

namespace rouse::sys {

ThreadName this_thread_name() noexcept {
  ThreadName made{};
  made.id = static_cast<std::uint32_t>(::gettid());
  ::pthread_getname_np(::pthread_self(), made.name, sizeof made.name);
  return made;
}

}  // namespace rouse::sys
