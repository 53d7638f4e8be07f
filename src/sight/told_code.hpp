// What dumps and slow polls tell alike: places in code, and what a thread does.
#pragma once

#include <cstdint>
#include <source_location>
#include <span>

#include "rouse/exec/internal/spawn_place.hpp"
#include "rouse/sight/slow_poll.hpp"

#include "exec/task/poll_under_way.hpp"
#include "sight/out.hpp"
#include "sys/thread_state.hpp"

namespace rouse::sight {

struct Activity {
  Doing doing = Doing::unknown;
  int system_call = -1;
  const char* system_call_name = nullptr;
  int descriptor = -1;
};
/// What the thread does now. `since`: its times some time ago; all zero: unknown.
Activity activity_of(sys::ThreadId thread, const sys::ThreadTimes& since) noexcept;

/// file.cpp:12
void put_place(Out& out, const std::source_location& where);
/// "./program+0x1234 in function"
void put_code(Out& out, std::uintptr_t code);
/// "blocked in read, descriptor 5, tcp 127.0.0.1:1 peer 127.0.0.1:2"
void put_activity(Out& out, const Activity& activity);

void put_json_place(Out& out, const std::source_location& where);
void put_json_code(Out& out, std::uintptr_t code);
/// Its members: "doing":"blocked","system_call":"read","fd":5
void put_json_activity(Out& out, const Activity& activity);
/// "stack":[...]
void put_json_stack(Out& out, std::span<const std::uintptr_t> stack);

}  // namespace rouse::sight
