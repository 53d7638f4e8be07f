#include "poller.hpp"

#include <memory>
#include <new>
#include <utility>

namespace rouse::sys {

Result<std::unique_ptr<Poller>> Poller::make() noexcept {
  auto poller = std::unique_ptr<Poller>(new (std::nothrow) Poller());
  if (!poller) return std::errc::not_enough_memory;
  return poller;
}

Result<void> Poller::add(int fd, std::uint64_t token, io::Interest) noexcept {
  const auto number = static_cast<std::size_t>(fd);
  if (number >= max_events) return std::errc::bad_file_descriptor;
  const Lock lock(mutex_);
  if (watched_[number].is_watched) return std::errc::file_exists;
  watched_[number] = {.is_watched = true, .token = token};
  return {};
}

void Poller::remove(int fd) noexcept {
  const Lock lock(mutex_);
  watched_[fd] = {};
}

void Poller::happens(int fd, std::uint64_t ready) noexcept {
  const Lock lock(mutex_);
  if (!watched_[fd].is_watched) return;
  watched_[fd].ready |= ready;
  changed_.notify_all();
}

std::span<const Event> Poller::wait(std::chrono::nanoseconds at_most) noexcept {
  Lock lock(mutex_);
  std::size_t told = take_events();
  if (told == 0 && !is_woken_ && at_most > std::chrono::nanoseconds(0)) {
    wait_for(changed_, lock, at_most);
    told = take_events();
  }
  is_woken_ = false;
  return {events_, told};
}

std::size_t Poller::take_events() noexcept {
  std::size_t told = 0;
  for (Watched& watched : watched_) {
    if (watched.ready == 0) continue;
    events_[told++] = {.token = watched.token, .ready = std::exchange(watched.ready, 0)};
  }
  return told;
}

void Poller::wake() noexcept {
  const Lock lock(mutex_);
  is_woken_ = true;
  changed_.notify_all();
}

}  // namespace rouse::sys
