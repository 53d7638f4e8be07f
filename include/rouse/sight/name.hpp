// sight::name: what a dump calls a mutex, a channel or the like.
//
//   sync::Mutex<Accounts> accounts;
//   const auto named = sight::name(accounts, "accounts");
//
//   waits for Mutex 0x55c797c9b450 "accounts", acquired by task 4702
//
// What has no name is told by its type and address.
#pragma once

#include <string>

#include "rouse/base/internal/attributes.hpp"
#include "rouse/base/shape.hpp"

namespace rouse::sight {

/// The name holds while this lives, which is to be no longer than what it names.
class ROUSE_API Named {
 public:
  Named(const void* resource, std::string name);
  Named(const Named&) = delete;
  Named& operator=(const Named&) = delete;
  ~Named();

  /// What is named.
  [[nodiscard]] const void* resource() const noexcept { return resource_; }
  /// As it was given.
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  /// For a dump: the next, of those that it looks through together.
  [[nodiscard]] const Named* next() const noexcept { return next_; }

 private:
  const void* const resource_;
  const std::string name_;
  Named* next_ = nullptr;
  Named* previous_ = nullptr;
};

/// Names a Mutex, RwLock, Semaphore, Notify, Barrier or OnceCell; or a channel, by either end.
/// Threads: any.
template <class Resource>
[[nodiscard("the name is forgotten at once: keep this in a variable")]] Named name(
    const Resource& resource, std::string text) {
  const void* named = &resource;
  // An end of a channel waits for what both ends share.
  if constexpr (requires { Resource::shape(); }) {
    constexpr const Shape& shape = rouse::internal::shape_of<Resource>;
    if constexpr (shape.kind > Wait::opaque && shape.kind < Wait::all_of && shape.count != 0) {
      const auto offset = static_cast<const Part*>(shape.parts)->offset;
      named =
          *reinterpret_cast<const void* const*>(reinterpret_cast<const char*>(&resource) + offset);
    }
  }
  return Named(named, std::move(text));
}

}  // namespace rouse::sight
