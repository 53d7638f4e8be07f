// The flight recorder: what each thread did of late, in a ring of its own (record_ring.hpp): which
// tasks it spawned, polled and woke, when it slept, what came from the system. Off unless a program
// asks for it; then a place that might record costs a load and a branch.
//
// A thread that records for the first time gets a ring: pages of its own, no malloc. One that ends
// leaves it, to be read until another thread takes it over or recording stops. The rings of threads
// that live stay mapped, without memory, after that.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "rouse/base/internal/function_ref.hpp"
#include "rouse/base/internal/recording.hpp"

#include "base/record_ring.hpp"
#include "sys/thread_name.hpp"

namespace rouse::internal::recorder {

/// What a record tells. In brackets: its tag, then its two arguments.
enum class What : std::uint8_t {
  nothing,
  thread_was,  // what comes before is of another thread [its id; its name]
  spawn,       // [the task; its SpawnPlace, the tag of who spawned it]
  task_name,   // [the task; the first of its name]
  poll,        // a poll begins [the task; where its outermost coroutine is, as a source location]
  poll_end,    // [the task; where the innermost one stopped; a PollEnd]
  cancel,      // it is ended without a poll [the task]
  wake,        // a task that was idle is put on a queue [the task; the tag of who woke it]
  steal,       // [0; how many tasks]
  park,
  unpark,
  io,         // a descriptor is ready [0; the descriptor, flags of io::Ready]
  timers,     // [0; how many are due]
  call,       // of spawn_blocking: it begins [the task; its SpawnPlace]
  call_end,   // [the task]
  lock_wait,  // [the task; the lock]
  lock_got,   // [the task; the lock]
  event,      // of the program's [the task; the span it is in]; texts follow
  span,       // begins [the task; its id, the id of the one around it]; texts follow
  span_end,   // [the task; its id]
  text,       // a part of a text: see Text
};
enum PollEnd : std::uint8_t { is_pending, is_woken, is_ended };

using Ring = RecordRing<4>;
using Record = Ring::Record;

/// A record, taken apart.
class Seen {
 public:
  explicit Seen(const Record& record) noexcept : record_(&record) {}
  [[nodiscard]] What what() const noexcept { return static_cast<What>((*record_)[1] >> 32 & 0xff); }
  [[nodiscard]] std::uint32_t tag() const noexcept {
    return static_cast<std::uint32_t>((*record_)[1]);
  }
  [[nodiscard]] std::uint64_t ticks() const noexcept { return (*record_)[0]; }
  [[nodiscard]] std::uint64_t first() const noexcept { return (*record_)[2]; }
  [[nodiscard]] std::uint64_t second() const noexcept { return (*record_)[3]; }
  /// Of those with a name in their arguments.
  [[nodiscard]] std::string_view name() const noexcept;

 private:
  const Record* record_;
};

/// A part of a text of up to `room` bytes: in all words but the second.
struct Text {
  enum class Role : std::uint8_t { name, key, value, number, rest };
  static constexpr std::size_t room = 24;
  static constexpr std::size_t longest = 4 * room;

  explicit Text(const Record& record) noexcept;
  Role role;
  std::uint8_t size;
  char bytes[room];
};

/// The number of the recording must have been seen.
void record_now(What what, std::uint32_t tag, std::uint64_t first, std::uint64_t second) noexcept;
void record_at(std::uint64_t ticks, What what, std::uint32_t tag, std::uint64_t first,
               std::uint64_t second) noexcept;
inline void record(What what, std::uint32_t tag = 0, std::uint64_t first = 0,
                   std::uint64_t second = 0) noexcept {
  if (is_recording()) [[unlikely]]
    record_now(what, tag, first, second);
}
/// Cut after Text::longest bytes.
void record_text(Text::Role role, std::string_view text) noexcept;
void record_task_name(std::uint32_t tag, const char* name) noexcept;

/// Starts to record, or goes on; of those that start the first says how much memory a thread gets.
/// Gives the number of the recording.
std::uint32_t start(std::size_t bytes_a_thread) noexcept;
/// For each start. The last one stops it, unless this is a forked child.
void stop(std::uint32_t number) noexcept;

/// When the recording began, in ticks.
std::uint64_t began_at() noexcept;

/// Of each ring: `room` gives memory for so many records, or less; then `see` gets the oldest
/// first, with the thread that made the last of them. Others wait that read; threads that begin or
/// end wait while their ring, or that of another, is copied.
void read_all(FunctionRef<std::span<Record>(std::size_t)> room,
              FunctionRef<void(const sys::ThreadName&, std::span<Record>)> see) noexcept;

}  // namespace rouse::internal::recorder
