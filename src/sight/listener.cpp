#include "sight/listener.hpp"

#include <new>
#include <utility>

#include "rouse/base/thread.hpp"

#include "sys/process_fork.hpp"

namespace rouse::sight {
namespace {

struct List {
  Mutex mutex;
  rouse::internal::RingHead all;
};
/// Never destroyed: a static Sight may end after this would.
List& list() noexcept {
  alignas(List) static char place[sizeof(List)];
  static List& made = *new (place) List;
  return made;
}

}  // namespace

void Listener::close_all_in_child() noexcept {
  List& of_parent = list();
  for (RingLink* each = of_parent.all.next(); each != &of_parent.all; each = each->next()) {
    static_cast<Listener*>(each)->fd_ = io::OwnedFd();
  }
  of_parent.mutex.unlock();
}

const bool Listener::forks_are_watched = sys::at_process_fork(
    [] { list().mutex.lock(); }, [] { list().mutex.unlock(); }, close_all_in_child);

Listener::Listener(io::OwnedFd fd) noexcept : fd_(std::move(fd)) {
  const Lock lock(list().mutex);
  insert_before(list().all);
}

Listener::~Listener() {
  const Lock lock(list().mutex);
  unlink();
}

}  // namespace rouse::sight
