#include "rouse/sight/trace_context.hpp"

#include <bit>
#include <span>

#include "sys/process_fork.hpp"
#include "sys/self.hpp"
#include "sys/ticks.hpp"

namespace rouse::sight {
namespace {

constexpr std::string_view hex_digits = "0123456789abcdef";

/// Numbers that are different in all threads of all processes. Nothing is secret about them.
class Numbers {
 public:
  std::uint64_t next() noexcept {
    if (forks_ != sys::process_forks() + 1) seed();
    for (;;) {
      // SplitMix64, of two states.
      states_[0] += 0x9e3779b97f4a7c15;
      std::uint64_t z = states_[0];
      z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
      z = (z ^ z >> 27) * 0x94d049bb133111eb;
      z ^= z >> 31 ^ std::rotl(states_[1] += 0xda942042e4dd58b5, 31);
      if (z != 0) return z;
    }
  }

 private:
  /// Without the system's help time and address have to do.
  void seed() noexcept {
    forks_ = sys::process_forks() + 1;
    if (sys::fill_randomly(std::as_writable_bytes(std::span(states_)))) return;
    states_[0] = sys::ticks();
    states_[1] = reinterpret_cast<std::uintptr_t>(this) ^
                 static_cast<std::uint64_t>(sys::process_id()) << 48;
  }

  std::array<std::uint64_t, 2> states_{};
  std::uint32_t forks_ = 0;  // of a process that was forked so often, and one more; 0: none
};
constinit thread_local Numbers numbers;

/// Lower-case hexadecimal hex_digits. False: it is something else.
bool read(std::string_view text, std::uint64_t& number) noexcept {
  number = 0;
  for (const char c : text) {
    const std::size_t digit = hex_digits.find(c);
    if (digit == std::string_view::npos) return false;
    number = number << 4 | digit;
  }
  return true;
}

void append(std::string& text, std::uint64_t number) {
  for (int shift = 60; shift >= 0; shift -= 4) text += hex_digits[number >> shift & 15];
}

}  // namespace

//  0  3                                36               53
// "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
std::optional<TraceContext> TraceContext::parse(std::string_view text) noexcept {
  if (text.size() < text_size || text[2] != '-' || text[35] != '-' || text[52] != '-') return {};
  std::uint64_t version = 0;
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  std::uint64_t span = 0;
  std::uint64_t flags = 0;
  if (!read(text.substr(0, 2), version) || !read(text.substr(3, 16), high) ||
      !read(text.substr(19, 16), low) || !read(text.substr(36, 16), span) ||
      !read(text.substr(53, 2), flags)) {
    return {};
  }
  if (version == 0xff || (high | low) == 0 || span == 0) return {};
  // Only a version to come has more.
  if (text.size() > text_size && (version == 0 || text[text_size] != '-')) return {};
  return TraceContext({high, low}, span, (flags & 1) != 0);
}

TraceContext TraceContext::generate(bool is_sampled) noexcept {
  const std::uint64_t high = numbers.next();
  const std::uint64_t low = numbers.next();
  return {{high, low}, numbers.next(), is_sampled};
}

TraceContext TraceContext::child() const noexcept {
  return {trace_id_, numbers.next(), is_sampled_};
}

std::string TraceContext::to_string() const {
  std::string text = "00-";
  text.reserve(text_size);
  append(text, trace_id_[0]);
  append(text, trace_id_[1]);
  text += '-';
  append(text, span_id_);
  return text += is_sampled_ ? "-01" : "-00";
}

}  // namespace rouse::sight
