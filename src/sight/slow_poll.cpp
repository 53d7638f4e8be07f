#include "rouse/sight/slow_poll.hpp"

#include "sight/told_code.hpp"
#include "sight/watchdog.hpp"

namespace rouse::sight {

void write_text(Out& out, const SlowPoll& poll) {
  const std::uint64_t us = static_cast<std::uint64_t>(poll.duration.count()) / 1000;
  out.put("rouse: slow poll: ").put(us / 1000).put('.').put(us % 1000 / 100).put(" ms so far, ");
  out.put("task ").put(poll.task);
  if (poll.name != nullptr) out.put(" \"").put_text(poll.name).put('"');
  if (poll.spawned_at.line() != 0) {
    out.put(", spawned at ");
    put_place(out, poll.spawned_at);
  } else if (poll.spawned_by != 0) {
    out.put(", spawned at ");
    put_code(out, poll.spawned_by);
  }
  out.put("\n  ");
  put_activity(out, Activity{.doing = poll.doing,
                             .system_call = poll.system_call,
                             .system_call_name = poll.system_call_name,
                             .descriptor = poll.descriptor});
  out.put('\n');
  constexpr std::size_t outermost = 8;
  for (std::size_t i = 0; i < poll.awaits.size(); ++i) {
    if (poll.awaits_left_out != 0 && i + outermost == poll.awaits.size()) {
      out.put("  ... ").put(std::uint64_t{poll.awaits_left_out}).put(" more\n");
    }
    out.put(i == 0 ? "  after " : "  at ");
    put_place(out, poll.awaits[i]);
    out.put("  ").put(poll.awaits[i].function_name()).put('\n');
  }
  if (!poll.stack.empty()) {
    out.put("  stack:\n");
    for (const std::uintptr_t code : poll.stack) {
      out.put("    ");
      put_code(out, code);
      out.put('\n');
    }
  }
  if (poll.not_told != 0) {
    out.put("  ").put(poll.not_told).put(" more slow polls since the last such message\n");
  }
}

std::string SlowPoll::text() const {
  std::string text;
  Out out(text);
  write_text(out, *this);
  return text;
}

}  // namespace rouse::sight
