// What a random program leaves behind, counted: objects, and the parts of it that live (each says
// what it is doing, for the case that nothing goes on). All of it is relaxed: a count must not
// order what the program itself leaves unordered.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

namespace rouse::random_program {

/// Says what is wrong and aborts.
[[noreturn]] void fail(const char* what) noexcept;

/// An object of the program. Aborts if it is used or destroyed when it is gone.
class Token {
 public:
  Token() noexcept { count(1); }
  Token(const Token& other) noexcept : Token() { other.check(); }
  Token(Token&& other) noexcept : Token() { other.check(); }
  Token& operator=(const Token& other) noexcept {
    check();
    other.check();
    return *this;
  }
  Token& operator=(Token&& other) noexcept { return *this = std::as_const(other); }
  ~Token() {
    check();
    state_ = 0;
    count(-1);
  }

  void check() const noexcept {
    if (state_ != alive) fail("an object is used that is gone");
  }

  /// How many there are.
  static long live() noexcept;

 private:
  static constexpr std::uint64_t alive = 0x616c697665616c69;
  static void count(int change) noexcept;

  std::uint64_t state_ = alive;
};

/// A part of the program, from when it is made until it is destroyed. Owned by one thread at a
/// time.
class Part {
 public:
  explicit Part(std::uint64_t seed) noexcept;
  Part(Part&& other) noexcept : slot_(std::exchange(other.slot_, nullptr)) {}
  Part& operator=(Part&&) = delete;
  ~Part();

  /// `what` is a literal.
  void is_doing(const char* what) noexcept;

  static long live() noexcept;
  /// Forgets the last program, of which nothing lives.
  static void start_anew() noexcept;
  /// What each of them is doing, to stderr.
  static void print_all() noexcept;

 private:
  struct Slot;
  static Slot slots[];
  Slot* slot_;
};

/// Threads of the runtimes.
class Threads {
 public:
  static void started() noexcept;
  static void stopped() noexcept;
  static long live() noexcept;
};

/// Threads that block in the program's own code: at most as many as there are workers and blocking
/// threads. (The threads themselves may be more for a moment, while some are about to end.)
class BlockedThreads {
 public:
  static void set_limit(long most) noexcept;
  static void one_more() noexcept;
  static void one_less() noexcept;
};

}  // namespace rouse::random_program
