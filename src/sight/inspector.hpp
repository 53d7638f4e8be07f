// Inspector: the duty that answers HTTP requests: see answer.hpp for what there is. By a Unix
// socket of this user, and by a port of 127.0.0.1 with a token (gate.hpp).
//
// It runs on the thread of sight, so it waits for nobody and needs no malloc. At most
// `most_connections` are served at a time, each for so long; others wait until one is over.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "rouse/sight/options.hpp"

#include "sight/answer.hpp"
#include "sight/duty.hpp"
#include "sight/gate.hpp"
#include "sight/inspector_connection.hpp"
#include "sight/listener.hpp"
#include "sight/private_socket.hpp"
#include "sys/clock.hpp"

namespace rouse::sight {

class Inspector final : public Duty {
 public:
  static constexpr std::size_t most_connections = 8;
  static constexpr std::size_t most_of_port = 6;  // which every user of the machine reaches
  using Clock = InspectorConnection::Clock;

  Inspector(const Options& options, Watch watch, Clock clock = sys::monotonic_ns);
  ~Inspector() override;

  void ready(std::uint32_t key, std::uint64_t flags) noexcept override;
  std::chrono::nanoseconds look() noexcept override;

  /// Empty: there is none.
  [[nodiscard]] const std::string& url() const noexcept { return url_; }
  [[nodiscard]] std::string socket_path() const { return local_ ? local_->path() : std::string(); }

 private:
  void open_port(std::uint16_t port);
  void watch_listener(int fd, std::uint32_t key);
  void accept_all() noexcept;
  bool has_place_for_port() const noexcept;
  bool accept(int listener, const Token* token) noexcept;
  void end(InspectorConnection& connection) noexcept;

  const std::uint32_t process_forks_before_;
  const Watch watch_;
  const Clock clock_;
  std::optional<PrivateSocket> local_;
  std::optional<Listener> port_;
  std::optional<Token> token_;
  std::string url_;
  bool may_accept_ = true;          // a listener was not asked until it had nobody
  std::uint64_t accept_after_ = 0;  // no descriptor is free, or there were many: not before
  BodyRoom room_;
  std::array<InspectorConnection, most_connections> connections_;
};

}  // namespace rouse::sight
