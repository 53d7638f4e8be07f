// Answer: what the inspector says to a request. It is written into memory of its own first, so that
// a slow reader keeps nobody waiting. What all answers take together is bounded.
#pragma once

#include <cstddef>
#include <string_view>

#include "sight/http_request.hpp"
#include "sight/out.hpp"

namespace rouse::sight {

/// So much may all bodies take that are being sent.
struct BodyRoom {
  static constexpr std::size_t all = std::size_t{64} << 20;
  std::size_t left = all;
};

class Answer {
 public:
  Answer() noexcept = default;
  Answer(const Answer&) = delete;
  Answer& operator=(const Answer&) = delete;
  ~Answer() { release(); }

  /// To a request that is let in, if `head` says ok; else it tells why not. `room` lives longer.
  void make(const HttpHead& head, BodyRoom& room) noexcept;
  /// To be sent one after the other.
  [[nodiscard]] std::string_view head() const noexcept { return {head_, head_size_}; }
  [[nodiscard]] std::string_view body() const noexcept { return body_; }
  /// What the head says, for who writes another one.
  [[nodiscard]] HttpStatus status() const noexcept { return status_; }
  [[nodiscard]] std::string_view content_type() const noexcept { return type_; }
  [[nodiscard]] std::string_view policy() const noexcept;
  /// Gives the memory back.
  void release() noexcept;

 private:
  using Write = void (*)(Out&);
  void dump(std::string_view query, BodyRoom& room) noexcept;
  void fill(std::string_view type, Write write, BodyRoom& room) noexcept;
  void refuse(HttpStatus status) noexcept;
  void set(HttpStatus status, std::string_view type, std::string_view body) noexcept;

  BodyRoom* room_ = nullptr;
  char* memory_ = nullptr;  // of the body, if that is no constant
  std::size_t size_ = 0;
  HttpStatus status_ = HttpStatus::ok;
  std::string_view type_;
  std::string_view body_;
  char head_[1024];
  std::size_t head_size_ = 0;
};

}  // namespace rouse::sight
