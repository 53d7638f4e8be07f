#include "sight/told_code.hpp"

#include "sys/describe_code.hpp"
#include "sys/describe_fd.hpp"

namespace rouse::sight {
namespace {

std::string_view word_for(Doing doing) noexcept {
  switch (doing) {
    case Doing::computing:
      return "computing";
    case Doing::blocked:
      return "blocked";
    case Doing::without_cpu:
      return "without_cpu";
    case Doing::unknown:
      break;
  }
  return "unknown";
}

/// Most of the time since then it waited for a CPU.
bool had_no_cpu(sys::ThreadId thread, const sys::ThreadTimes& since) noexcept {
  const sys::ThreadTimes now = sys::thread_times(thread);
  const std::uint64_t ran = now.on_cpu_ns - since.on_cpu_ns;
  const std::uint64_t waited = now.waiting_ns - since.waiting_ns;
  return since.on_cpu_ns != 0 && now.on_cpu_ns != 0 && waited > ran;
}

}  // namespace

Activity activity_of(sys::ThreadId thread, const sys::ThreadTimes& since) noexcept {
  Activity activity;
  const sys::ThreadState state = sys::thread_state(thread);
  switch (state.does) {
    case sys::ThreadState::Does::unknown:
      return activity;
    case sys::ThreadState::Does::runs:
      activity.doing = had_no_cpu(thread, since) ? Doing::without_cpu : Doing::computing;
      return activity;
    case sys::ThreadState::Does::waits:
      activity.doing = Doing::blocked;
  }
  if (state.system_call < 0) return activity;
  activity.system_call = static_cast<int>(state.system_call);
  const sys::SystemCall call = sys::describe_system_call(state.system_call);
  activity.system_call_name = call.name;
  if (call.takes_descriptor) activity.descriptor = static_cast<int>(state.first_argument);
  return activity;
}

void put_place(Out& out, const std::source_location& where) {
  out.put(where.file_name()).put(':').put(std::uint64_t{where.line()});
}

void put_code(Out& out, std::uintptr_t code) {
  const sys::CodePlace place = sys::place_of_code(code);
  out.put_text(place.module == nullptr ? "?" : place.module);
  out.put('+').put_hex(place.offset);
  if (place.function != nullptr) out.put(" in ").put(place.function);
}

void put_activity(Out& out, const Activity& activity) {
  switch (activity.doing) {
    case Doing::unknown:
      out.put("nobody knows what its thread does");
      return;
    case Doing::computing:
      out.put("computing");
      return;
    case Doing::without_cpu:
      out.put("without a CPU: other threads have them");
      return;
    case Doing::blocked:
      out.put("blocked");
  }
  if (activity.system_call_name != nullptr) {
    out.put(" in ").put(activity.system_call_name);
  } else if (activity.system_call >= 0) {
    out.put(" in system call ").put(static_cast<std::uint64_t>(activity.system_call));
  }
  if (activity.descriptor < 0) return;
  out.put(", descriptor ").put(static_cast<std::uint64_t>(activity.descriptor));
  char text[320];
  sys::describe_fd(activity.descriptor, text);
  if (text[0] != 0) out.put(", ").put_text(text);
}

void put_json_place(Out& out, const std::source_location& where) {
  out.put("{\"file\":").put_json(where.file_name());
  out.put(",\"line\":").put(std::uint64_t{where.line()});
  out.put(",\"function\":").put_json(where.function_name()).put('}');
}

void put_json_code(Out& out, std::uintptr_t code) {
  const sys::CodePlace place = sys::place_of_code(code);
  out.put("{\"module\":").put_json(place.module == nullptr ? "" : place.module);
  out.put(",\"offset\":\"").put_hex(place.offset).put('"');
  if (place.function != nullptr) out.put(",\"function\":").put_json(place.function);
  out.put('}');
}

void put_json_activity(Out& out, const Activity& activity) {
  out.put("\"doing\":").put_json(word_for(activity.doing));
  if (activity.system_call_name != nullptr) {
    out.put(",\"system_call\":").put_json(activity.system_call_name);
  } else if (activity.system_call >= 0) {
    out.put(",\"system_call\":\"").put(static_cast<std::uint64_t>(activity.system_call)).put('"');
  }
  if (activity.descriptor >= 0) {
    out.put(",\"fd\":").put(static_cast<std::uint64_t>(activity.descriptor));
  }
}

void put_json_stack(Out& out, std::span<const std::uintptr_t> stack) {
  out.put("\"stack\":[");
  for (const std::uintptr_t& code : stack) {
    if (&code != stack.data()) out.put(',');
    put_json_code(out, code);
  }
  out.put(']');
}

}  // namespace rouse::sight
