// Out: where a dump is written to: a descriptor or memory, without malloc, or a string.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>

#include "rouse/base/internal/durations.hpp"
#include "rouse/base/result.hpp"
#include "rouse/io/owned_fd.hpp"

#include "sys/shared_fd.hpp"

namespace rouse::sight {

/// With who reads standard error: a poll may be slow because that is full.
inline constexpr std::chrono::milliseconds stderr_patience(10);

class Out {
 public:
  /// `buffer` lives as long.
  Out(int fd, char* buffer, std::size_t size) noexcept : fd_(fd), buffer_(buffer), size_(size) {}
  /// Into a descriptor that others have, too, as standard error: it never blocks in it. One that
  /// takes nothing for so long gets no more.
  static Out without_blocking(int fd, std::chrono::nanoseconds patience, char* buffer,
                              std::size_t size) noexcept {
    return Out(fd, patience, buffer, size);
  }
  explicit Out(std::string& text) noexcept : text_(&text) {}
  /// Only into `memory`: what does not fit is left out.
  Out(char* memory, std::size_t size) noexcept : buffer_(memory), size_(size) {}
  Out(const Out&) = delete;
  Out& operator=(const Out&) = delete;

  Out& put(std::string_view text);
  Out& put(char c) { return put(std::string_view(&c, 1)); }
  Out& put(std::uint64_t number);
  Out& put_hex(std::uint64_t number);
  /// With control bytes, and what is no UTF-8, as \xNN: it may come from a peer.
  Out& put_text(const char* text);
  /// The same between quotes; what is no UTF-8 is U+FFFD.
  Out& put_json(std::string_view text);
  Out& put_json(const char* text) { return put_json(std::string_view(text)); }

  /// For a label of Prometheus, without quotes. Control bytes, and what is no UTF-8, are U+FFFD.
  Out& put_label(std::string_view text);

  /// All of it; the error, if there was one, of any.
  Result<void> flush() noexcept;

  /// Of memory: what is in it, and whether something was left out.
  [[nodiscard]] std::string_view text() const noexcept { return {buffer_, used_}; }
  [[nodiscard]] bool is_cut() const noexcept { return is_cut_; }

 private:
  Out(int fd, std::chrono::nanoseconds patience, char* buffer, std::size_t size) noexcept;

  Out& put_in_base(std::uint64_t number, unsigned base);
  Result<std::size_t> write(std::span<const char> bytes) const noexcept;

  std::string* text_ = nullptr;
  int fd_ = -1;  // of memory
  io::OwnedFd own_;
  std::optional<sys::Sharing> sharing_;                          // nothing: it may block
  std::chrono::nanoseconds patience_ = std::chrono::seconds(1);  // with one that is full
  char* buffer_ = nullptr;
  std::size_t size_ = 0;
  std::size_t used_ = 0;
  bool is_cut_ = false;
  std::error_code error_;
};

/// The type that an opaque shape's label names.
std::string_view opaque_type(const char* label) noexcept;

}  // namespace rouse::sight
