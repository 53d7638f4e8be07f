#include <algorithm>
#include <utility>

#include "sight/formats.hpp"
#include "sight/told_code.hpp"

namespace rouse::sight {
namespace {

class Text {
 public:
  Text(Out& out, const Snapshot& snapshot) noexcept : out_(out), snapshot_(snapshot) {}

  void write() {
    out_.put(snapshot_.tasks()).put(snapshot_.tasks() == 1 ? " task" : " tasks");
    if (snapshot_.forgotten() != 0) {
      out_.put(", ").put(snapshot_.forgotten()).put(" that nobody can wake");
    }
    out_.put('\n');
    if (snapshot_.left_out() != 0) {
      out_.put(snapshot_.left_out()).put(" of them are not shown: the dump has no more room\n");
    }
    std::uint64_t number = 0;
    for (const Deadlock* deadlock = snapshot_.deadlocks(); deadlock; deadlock = deadlock->next) {
      out_.put('\n');
      write(*deadlock, ++number);
    }
    write_groups(true);
    write_groups(false);
  }

  void write(const Deadlock& deadlock, std::uint64_t number) {
    out_.put("DEADLOCK ").put(number).put(": ");
    out_.put(deadlock.tasks.size() == 1 ? "a task waits for itself"
                                        : "tasks that wait for each other");
    out_.put('\n');
    const std::size_t shown = std::min(deadlock.tasks.size(), most_of_deadlock);
    for (const DeadlockedTask& task : deadlock.tasks.first(shown)) {
      out_.put("  task ").put(task.id);
      if (task.name != nullptr) out_.put(" \"").put_text(task.name).put('"');
      out_.put('\n');
      std::size_t at = 0;
      if (!task.steps.empty()) write_waiting(task.steps, at, 4);
    }
    if (const std::size_t more = deadlock.tasks.size() - shown) {
      out_.put("  ... ").put(more).put(more == 1 ? " more task\n" : " more tasks\n");
    }
  }

  void write(const Group& group) {
    is_cut_told_ = false;
    out_.put('\n');
    if (group.count == 1) {
      out_.put("task ").put(group.ids[0]);
    } else {
      out_.put(group.count).put(" tasks (");
      for (std::size_t i = 0; i < Group::most_ids && i < group.count; ++i) {
        out_.put(i == 0 ? "" : ", ").put(group.ids[i]);
      }
      out_.put(group.count > Group::most_ids ? ", ...)" : ")");
    }
    if (group.name != nullptr) out_.put(" \"").put_text(group.name).put('"');
    out_.put("  ").put(name_of(group.state));
    if (group.wakers >= 0) {
      out_.put(", ").put(static_cast<std::uint64_t>(group.wakers));
      out_.put(group.wakers == 1 ? " waker" : " wakers");
    }
    if (group.spawned_at.source().line() != 0) {
      out_.put("  spawned at ");
      put_place(out_, group.spawned_at.source());
    } else if (group.spawned_at.code() != 0) {
      put_code(out_.put("  spawned at "), group.spawned_at.code());
    }
    if (group.is_forgotten) out_.put("  -> NOBODY CAN WAKE IT");
    out_.put('\n');
    if (group.running != nullptr) {
      put_activity(begin_line(2), group.running->activity);
      out_.put('\n');
    }
    std::size_t at = 0;
    if (!group.steps.empty()) write_waiting(group.steps, at, 2);
    if (group.running == nullptr || group.running->stack.empty()) return;
    begin_line(2).put("stack:\n");
    for (const std::uintptr_t code : group.running->stack) {
      put_code(begin_line(4), code);
      out_.put('\n');
    }
  }

 private:
  /// Those that nobody can wake come first.
  void write_groups(bool forgotten) {
    std::uint64_t number = 0;
    for (const Executor* executor = snapshot_.first(); executor; executor = executor->next) {
      ++number;
      const bool is_told = !forgotten && (executor->tasks != 0 || executor->why_not != nullptr);
      if (is_told) {
        out_.put("\n== ").put(name_of(executor->kind)).put(' ').put(number).put(": ");
        out_.put(executor->tasks).put(executor->tasks == 1 ? " task" : " tasks");
        if (executor->why_not != nullptr) out_.put("; not seen: ").put(executor->why_not);
        out_.put('\n');
      }
      for (const Group* group = executor->first; group; group = group->next) {
        if (group->is_forgotten == forgotten) write(*group);
      }
    }
  }

  /// From a begin_waiting to behind its end.
  void write_waiting(std::span<const Step> steps, std::size_t& at, unsigned indent) {
    ++at;
    for (; at < steps.size() && steps[at].kind != Step::Kind::end_waiting; ++at) {
      const Step& step = steps[at];
      switch (step.kind) {
        case Step::Kind::leaf:
          begin_line(indent).put("waits for ");
          write_leaf(step);
          out_.put('\n');
          break;
        case Step::Kind::begin_node:
          write_node(steps, at, indent);
          break;
        case Step::Kind::frame:
          write_frames(steps, at, indent);
          break;
        case Step::Kind::left_out:
          begin_line(indent).put("... ").put(step.value).put(" more\n");
          break;
        default:
          break;
      }
    }
    ++at;
  }

  /// A coroutine that awaits itself at the same place is one line.
  void write_frames(std::span<const Step> steps, std::size_t& at, unsigned indent) {
    const Step& step = steps[at];
    std::uint64_t times = 1;
    while (at + 1 < steps.size() && steps[at + 1].kind == Step::Kind::frame &&
           steps[at + 1].where.line() == step.where.line() &&
           steps[at + 1].where.function_name() == step.where.function_name()) {
      ++times;
      ++at;
    }
    begin_line(indent).put("at ");
    put_place(out_, step.where);
    out_.put("  ").put(step.where.function_name());
    if (times != 1) out_.put("  (").put(times).put(" times)");
    out_.put('\n');
  }

  void write_node(std::span<const Step> steps, std::size_t& at, unsigned indent) {
    const Shape& shape = *steps[at++].shape;
    begin_line(indent).put("waits for ").put(label_of(shape));
    // What one operation waits for, such as a descriptor, is told in its line.
    if (at + 2 < steps.size() && steps[at + 1].kind == Step::Kind::leaf &&
        steps[at + 2].kind == Step::Kind::end_waiting &&
        (at + 3 == steps.size() || steps[at + 3].kind != Step::Kind::begin_waiting)) {
      out_.put(": ");
      write_leaf(steps[at + 1]);
      out_.put('\n');
      at += 3;
      return;
    }
    out_.put(shape.kind == Wait::all_of   ? ", all of\n"
             : shape.kind == Wait::any_of ? ", one of\n"
                                          : " of\n");
    while (at < steps.size() && steps[at].kind == Step::Kind::begin_waiting) {
      const std::size_t length = end_of_waiting(steps, at) - at;
      const std::size_t alike = count_alike(steps, at, length);
      const std::size_t shown = alike > most_alike ? most_shown : alike;
      for (std::size_t i = 0; i < shown; ++i) {
        is_item_ = true;
        write_waiting(steps, at, indent + 4);
      }
      if (shown == alike) continue;
      at += (alike - shown) * length;
      is_item_ = true;
      begin_line(indent + 4).put("... ").put(alike - shown).put(" more\n");
    }
    is_item_ = false;
    if (at < steps.size() || std::exchange(is_cut_told_, true)) return;
    is_item_ = true;
    begin_line(indent + 4).put("... and others, for which a dump has no room\n");
  }

  /// How many that wait at the same place for the same kind of thing come one after another, at
  /// least 1: a server joins thousands of tasks.
  static std::size_t count_alike(std::span<const Step> steps, std::size_t at,
                                 std::size_t length) noexcept {
    const auto is_alike = [](const Step& a, const Step& b) {
      return a.kind == b.kind && a.shape == b.shape && a.where.line() == b.where.line() &&
             a.where.function_name() == b.where.function_name();
    };
    const std::span<const Step> first = steps.subspan(at, length);
    std::size_t count = 1;
    for (std::size_t next = at + length; next + length <= steps.size(); next += length) {
      if (!std::ranges::equal(first, steps.subspan(next, length), is_alike)) break;
      ++count;
    }
    return count;
  }
  static std::size_t end_of_waiting(std::span<const Step> steps, std::size_t at) noexcept {
    std::size_t depth = 0;
    do {
      if (steps[at].kind == Step::Kind::begin_waiting) ++depth;
      if (steps[at].kind == Step::Kind::end_waiting) --depth;
      ++at;
    } while (depth != 0 && at < steps.size());
    return at;
  }

  Out& begin_line(unsigned indent) {
    const bool is_item = std::exchange(is_item_, false);
    for (unsigned i = 0; i < (is_item ? indent - 2 : indent); ++i) out_.put(' ');
    if (is_item) out_.put("- ");
    return out_;
  }

  void write_leaf(const Step& step) {
    const Shape& shape = *step.shape;
    if (shape.kind == Wait::opaque) {
      out_.put(label_of(shape));
      return;
    }
    out_.put(label_of(shape));
    if (shape.count == 0) return;
    switch (shape.kind) {
      case Wait::join:
      case Wait::descriptor:
        out_.put(' ').put(step.value);
        break;
      case Wait::sleep:
        write_time(step.value);
        break;
      default:
        out_.put(' ').put_hex(step.value);
        if (step.detail != nullptr) out_.put(" \"").put_text(step.detail).put('"');
    }
    if (step.holder != 0) {
      out_.put(shape.kind == Wait::init ? ", made by task " : ", acquired by task ");
      out_.put(std::uint64_t{step.holder});
    }
    if (step.detail != nullptr && shape.kind != Wait::descriptor) return;
    if (step.detail != nullptr && step.detail[0] != 0) {
      out_.put(", ").put_text(step.detail);
    }
  }

  void write_time(std::uint64_t deadline) {
    const std::uint64_t now = snapshot_.at_ns();
    if (deadline <= now) {
      out_.put(", which is over");
      return;
    }
    const std::uint64_t ms = (deadline - now) / 1'000'000;
    out_.put(", for another ").put(ms / 1000).put('.');
    out_.put(ms % 1000 / 100).put(ms % 100 / 10).put(ms % 10).put(" s");
  }

  static constexpr std::size_t most_of_deadlock = 16;
  static constexpr std::size_t most_alike = 8;
  static constexpr std::size_t most_shown = 4;  // of more than those

  Out& out_;
  const Snapshot& snapshot_;
  bool is_item_ = false;
  bool is_cut_told_ = false;  // of this group
};

}  // namespace

void write_text(Out& out, const Snapshot& snapshot) { Text(out, snapshot).write(); }
void write_text(Out& out, const Snapshot& snapshot, const Deadlock& deadlock,
                std::uint64_t number) {
  Text(out, snapshot).write(deadlock, number);
}
void write_text(Out& out, const Snapshot& snapshot, const Group& group) {
  Text(out, snapshot).write(group);
}

}  // namespace rouse::sight
