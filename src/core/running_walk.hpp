// RunningWalk: the awaits of a future that is being polled, by the thread that polls it, from a
// signal handler: so between any two instructions of that poll.
//
// From the root of the chain down, each frame names the child that it awaits
// (core/internal/frame.hpp), and that one's `link_` leads back. The last one runs, or what it
// awaits is polled: what a join or a timeout polls is not looked for. It is on the stack only,
// where what is left over from another poll can't be told from it.
//
// What runs not may be half made, or gone: so everything is read as bytes, by a function that fails
// where there is no memory, and counts only if it fits. What is found is true, or it is less.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <span>

#include "rouse/base/shape.hpp"
#include "rouse/core/internal/frame.hpp"

namespace rouse::internal {

class RunningWalk {
 public:
  static constexpr std::size_t most_inner = 32;
  static constexpr std::size_t most_outer = 8;

  struct Memory {
    bool (*read)(const void* from, void* to, std::size_t size) noexcept;
    bool (*is_in_module)(const void* address) noexcept;
  };
  explicit RunningWalk(const Memory& memory) noexcept : memory_(memory) {}

  /// Of what a task polls.
  void walk(const sight::Shape& shape, const void* future) noexcept;

  /// How many awaits were found.
  std::size_t size() const noexcept { return count_; }
  /// The innermost first: at most `most_inner`, and the `most_outer` outermost. Gives how many.
  std::size_t copy(std::span<std::source_location, most_inner + most_outer> out) const noexcept;

 private:
  static constexpr unsigned deepest = 16;  // of wrappers
  static constexpr unsigned most_reads = 8192;

  template <class T>
  bool read(const void* from, T& to) noexcept {
    return left_ != 0 && --left_ != 0 && memory_.read(from, &to, sizeof to);
  }
  const Frame* root_of(const sight::Shape& shape, const void* future, unsigned depth) noexcept;
  void add_chain(const Frame& root) noexcept;
  void add(const std::source_location& where) noexcept;

  const Memory memory_;
  unsigned left_ = most_reads;
  std::size_t count_ = 0;
  // The outermost ones, and a ring of the last ones.
  std::array<std::source_location, most_outer> outer_;
  std::array<std::source_location, most_inner> inner_;
};

}  // namespace rouse::internal
