// Recorded: a copy of what the recorder has of all threads, and what belongs together in it: a wake
// and the poll that it led to, the name of a task and its polls, both ends of a span.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/recorder.hpp"
#include "sys/thread_name.hpp"

namespace rouse::sight {

/// What was found out about a record.
struct Note {
  const rouse::internal::recorder::Record* other;  // of a poll the task's name; of an end its begin
  std::uint32_t arrow;                             // the same number at both ends; 0: none
};

/// What one ring had: of one thread after another, mostly of one.
struct Track {
  Track* next;
  std::size_t bytes;
  sys::ThreadName thread;  // the last
  std::span<rouse::internal::recorder::Record> records;
  std::span<Note> notes;  // of each record
};

class Recorded {
 public:
  Recorded() noexcept;
  Recorded(const Recorded&) = delete;
  Recorded& operator=(const Recorded&) = delete;
  ~Recorded();

  [[nodiscard]] const Track* first() const noexcept { return first_; }
  /// When it began, in ticks.
  [[nodiscard]] std::uint64_t began() const noexcept { return began_; }

 private:
  void copy() noexcept;
  void match() noexcept;

  const std::uint64_t began_;
  Track* first_ = nullptr;
};

}  // namespace rouse::sight
