#include "model/trace.hpp"

#include <atomic>
#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <string_view>

#include "model/arena.hpp"

namespace rouse::model {
namespace {

const char* text_of(std::memory_order order) noexcept {
  switch (order) {
    case std::memory_order_relaxed:
      return "relaxed";
    case std::memory_order_consume:
      return "consume";
    case std::memory_order_acquire:
      return "acquire";
    case std::memory_order_release:
      return "release";
    case std::memory_order_acq_rel:
      return "acq_rel";
    case std::memory_order_seq_cst:
      return "seq_cst";
  }
  return "?";
}

const char* kind_of(Op op) noexcept {
  switch (op) {
    case Op::load:
    case Op::store:
    case Op::update:
    case Op::exchanged:
    case Op::not_exchanged:
      return "atomic";
    case Op::cell_read:
    case Op::cell_guess:
    case Op::cell_write:
      return "cell";
    case Op::lock:
    case Op::try_lock_failed:
    case Op::unlock:
      return "mutex";
    case Op::park:
    case Op::unparked:
    case Op::unpark:
      return "parker";
    default:
      return "condvar";
  }
}

/// Addresses in the arena are told so that they are the same in each run of the program.
std::string text_of(std::uint64_t value) {
  char text[64];
  const auto* address = reinterpret_cast<const void*>(value);
  if (Arena::owns(address)) {
    const auto [thread, offset] = Arena::position_of(address);
    std::snprintf(text, sizeof text, "&heap%u[%zu]", thread, offset);
    return text;
  }
  std::snprintf(text, sizeof text, value > UINT32_MAX ? "0x%llx" : "%llu",
                static_cast<unsigned long long>(value));
  return text;
}

std::string joined(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (const std::string_view part : parts) text += part;
  return text;
}

}  // namespace

std::string name_of_thread(ThreadIndex thread) {
  return thread == 0 ? "main" : "thread " + std::to_string(thread);
}

std::string text_of(const Where& where) {
  if (where.line() == 0) return "";
  const char* file = where.file_name();
  if (const char* slash = std::strrchr(file, '/')) file = slash + 1;
  return std::string(file) + ":" + std::to_string(where.line());
}

std::string Trace::name_of(const void* object, const char* kind) const {
  if (const auto named = names_.find(object); named != names_.end()) return named->second;
  // Others are numbered as they appear.
  std::vector<const void*> seen;
  for (const Step& step : steps_) {
    if (step.object == nullptr || std::strcmp(kind_of(step.op), kind) != 0) continue;
    if (step.object == object) break;
    bool known = names_.contains(step.object);
    for (const void* one : seen) known = known || one == step.object;
    if (!known) seen.push_back(step.object);
  }
  return std::string(kind) + " " + std::to_string(seen.size() + 1);
}

std::string Trace::text() const {
  std::string text;
  char line[512];
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const Step& step = steps_[i];
    const std::string name = step.object ? name_of(step.object, kind_of(step.op)) : "";
    const std::string order = std::string(" (") + text_of(step.order) + ")";
    const std::string read = text_of(step.read) + (step.is_old ? " (not the newest)" : "");
    const std::string written =
        text_of(step.written) + (step.is_old ? " (behind a newer one)" : "");
    const std::string other = name_of_thread(static_cast<ThreadIndex>(step.written));
    std::string what;
    switch (step.op) {
      case Op::load:
        what = joined({name, ".load", order, " -> ", read});
        break;
      case Op::store:
        what = joined({name, ".store", order, " <- ", written});
        break;
      case Op::update:
        what = joined({name, ".update", order, " -> ", text_of(step.read), " <- ", written});
        break;
      case Op::exchanged:
        what =
            joined({name, ".compare_exchange", order, " -> ", text_of(step.read), " <- ", written});
        break;
      case Op::not_exchanged:
        what = joined({name, ".compare_exchange", order, " fails -> ", read});
        break;
      case Op::fence:
        what = "fence" + order;
        break;
      case Op::spin:
        what = "spins";
        break;
      case Op::cell_read:
        what = name + ".read";
        break;
      case Op::cell_guess:
        what = name + ".guess";
        break;
      case Op::cell_write:
        what = name + ".write";
        break;
      case Op::lock:
        what = name + ".lock";
        break;
      case Op::try_lock_failed:
        what = name + ".try_lock fails";
        break;
      case Op::unlock:
        what = name + ".unlock";
        break;
      case Op::wait:
        what = name + ".wait";
        break;
      case Op::woken:
        what = name + " woke it";
        break;
      case Op::timed_out:
        what = name + ".wait timed out";
        break;
      case Op::notify_one:
        what = name + ".notify_one";
        break;
      case Op::notify_all:
        what = name + ".notify_all";
        break;
      case Op::park:
        what = "parks";
        break;
      case Op::unparked:
        what = name + ": unparked";
        break;
      case Op::unpark:
        what = name + ".unpark";
        break;
      case Op::start:
        what = "starts " + other;
        break;
      case Op::join:
        what = "joins " + other;
        break;
      case Op::end:
        what = "ends";
        break;
    }
    std::snprintf(line, sizeof line, "%5zu  %-10s %-60s %s\n", i + 1,
                  name_of_thread(step.thread).c_str(), what.c_str(), text_of(step.where).c_str());
    text += line;
  }
  return text;
}

}  // namespace rouse::model
