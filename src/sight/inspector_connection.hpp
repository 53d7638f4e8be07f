// InspectorConnection: one client, one request, one answer. Nothing here waits: it goes on whenever
// the descriptor is ready, until a time that is set for each part. Who sends or reads too slowly is
// cut off.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "rouse/io/owned_fd.hpp"

#include "sight/answer.hpp"
#include "sight/gate.hpp"
#include "sight/http_request.hpp"

namespace rouse::sight {

class InspectorConnection {
 public:
  using Clock = std::uint64_t (*)() noexcept;

  InspectorConnection() noexcept = default;
  InspectorConnection(const InspectorConnection&) = delete;
  InspectorConnection& operator=(const InspectorConnection&) = delete;
  ~InspectorConnection() = default;

  [[nodiscard]] bool is_free() const noexcept { return !fd_; }
  [[nodiscard]] int fd() const noexcept { return fd_.get(); }
  [[nodiscard]] bool needs_token() const noexcept { return token_ != nullptr; }
  /// Times are those of the inspector's clock. `token`: what a request needs; null: nothing.
  void begin(io::OwnedFd fd, const Token* token, std::uint64_t now) noexcept;
  /// Does what can be done now. False: it is over, to be ended.
  bool go_on(BodyRoom& room, Clock clock) noexcept;
  /// When it is cut off.
  [[nodiscard]] std::uint64_t deadline() const noexcept { return deadline_; }
  void end() noexcept;

 private:
  enum class State : std::uint8_t { reads, writes, drains };
  bool read(BodyRoom& room, Clock clock) noexcept;
  bool write(Clock clock) noexcept;
  bool drain() noexcept;

  io::OwnedFd fd_;
  const Token* token_ = nullptr;
  State state_ = State::reads;
  std::uint64_t deadline_ = 0;
  std::size_t received_ = 0;
  std::string_view left_[2];  // of the answer
  Answer answer_;
  char request_[longest_http_head];
};

}  // namespace rouse::sight
