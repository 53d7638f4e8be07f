#include "rouse/sight/name.hpp"

#include <utility>

#include "sight/names.hpp"
#include "sys/process_fork.hpp"

namespace rouse::sight {

alignas(Names) char names_place[sizeof(Names)];

namespace {

Names& all_names() noexcept {
  static Names& all = *new (names_place) Names;
  return all;
}

[[maybe_unused]] const bool forks_are_watched =
    sys::at_process_fork([] { all_names().mutex.lock(); }, [] { all_names().mutex.unlock(); },
                         [] { all_names().mutex.unlock(); });

}  // namespace

Named::Named(const void* resource, std::string name) : resource_(resource), name_(std::move(name)) {
  const Lock lock(all_names().mutex);
  next_ = std::exchange(all_names().first_of(resource_), this);
  if (next_ != nullptr) next_->previous_ = this;
}

Named::~Named() {
  const Lock lock(all_names().mutex);
  (previous_ == nullptr ? all_names().first_of(resource_) : previous_->next_) = next_;
  if (next_ != nullptr) next_->previous_ = previous_;
}

const char* copy_name_of(const void* resource, Arena& arena) noexcept {
  const Lock lock(all_names().mutex);
  const Named* named = all_names().first_of(resource);
  for (; named != nullptr; named = named->next()) {
    if (named->resource() == resource) return arena.copy(named->name().c_str(), longest_name);
  }
  return nullptr;
}

}  // namespace rouse::sight
