#include "rouse/sight/start.hpp"

#include <utility>

#include "sight/sight_thread.hpp"

namespace rouse::sight {

Sight::Sight(rouse::internal::Box<Thread> thread) noexcept : thread_(std::move(thread)) {}
Sight::Sight() noexcept = default;
Sight::Sight(Sight&&) noexcept = default;
Sight& Sight::operator=(Sight&&) noexcept = default;
Sight::~Sight() = default;

Sight::operator bool() const noexcept { return static_cast<bool>(thread_); }
std::string Sight::url() const { return thread_ ? thread_->url() : std::string(); }
std::string Sight::socket_path() const { return thread_ ? thread_->socket_path() : std::string(); }

Sight start(const Options& options) {
  return Sight(rouse::internal::make_box<Sight::Thread>(options));
}

}  // namespace rouse::sight
