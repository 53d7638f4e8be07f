#include "sight/formats.hpp"
#include "sight/told_code.hpp"

namespace rouse::sight {
namespace {

class Json {
 public:
  Json(Out& out, const Snapshot& snapshot) noexcept : out_(out), snapshot_(snapshot) {}

  void write() {
    out_.put("{\"format\":1,\"tasks\":").put(snapshot_.tasks());
    out_.put(",\"nobody_can_wake\":").put(snapshot_.forgotten());
    out_.put(",\"left_out\":").put(snapshot_.left_out()).put(",\"executors\":[");
    for (const Executor* executor = snapshot_.first(); executor; executor = executor->next) {
      if (executor != snapshot_.first()) out_.put(',');
      write(*executor);
    }
    out_.put("]");
    if (snapshot_.deadlocks() != nullptr) write_deadlocks();
    out_.put("}\n");
  }

 private:
  void write_deadlocks() {
    out_.put(",\"deadlocks\":[");
    for (const Deadlock* deadlock = snapshot_.deadlocks(); deadlock; deadlock = deadlock->next) {
      out_.put(deadlock == snapshot_.deadlocks() ? "\n[" : ",\n[");
      for (const DeadlockedTask& task : deadlock->tasks) {
        if (&task != deadlock->tasks.data()) out_.put(',');
        out_.put("{\"id\":").put(task.id);
        if (task.name != nullptr) out_.put(",\"name\":").put_json(task.name);
        out_.put(",\"waits\":");
        std::size_t at = 0;
        write_waiting(task.steps, at);
        out_.put('}');
      }
      out_.put(']');
    }
    out_.put(']');
  }

  void write(const Executor& executor) {
    out_.put("\n{\"kind\":").put_json(name_of(executor.kind));
    out_.put(",\"tasks\":").put(executor.tasks);
    if (executor.why_not != nullptr) out_.put(",\"not_seen\":").put_json(executor.why_not);
    out_.put(",\"groups\":[");
    for (const Group* group = executor.first; group; group = group->next) {
      if (group != executor.first) out_.put(',');
      write(*group);
    }
    out_.put("]}");
  }

  void write(const Group& group) {
    out_.put("\n{\"count\":").put(group.count).put(",\"ids\":[");
    for (std::size_t i = 0; i < Group::most_ids && i < group.count; ++i) {
      if (i != 0) out_.put(',');
      out_.put(group.ids[i]);
    }
    out_.put("],\"state\":").put_json(name_of(group.state));
    if (group.name != nullptr) out_.put(",\"name\":").put_json(group.name);
    if (group.wakers >= 0) {
      out_.put(",\"wakers\":").put(static_cast<std::uint64_t>(group.wakers));
    }
    if (group.is_forgotten) out_.put(",\"nobody_can_wake\":true");
    if (group.spawned_at.source().line() != 0) {
      out_.put(",\"spawned\":");
      put_json_place(out_, group.spawned_at.source());
    } else if (group.spawned_at.code() != 0) {
      put_json_code(out_.put(",\"spawned\":"), group.spawned_at.code());
    }
    if (group.running != nullptr) {
      put_json_activity(out_.put(",\"running\":{"), group.running->activity);
      put_json_stack(out_.put(','), group.running->stack);
      out_.put('}');
    }
    if (!group.steps.empty()) {
      out_.put(",\"waits\":");
      std::size_t at = 0;
      write_waiting(group.steps, at);
    }
    out_.put('}');
  }

  /// From a begin_waiting to behind its end.
  void write_waiting(std::span<const Step> steps, std::size_t& at) {
    out_.put('{');
    ++at;
    const char* between = "";
    const auto member = [&](std::string_view name) {
      out_.put(between).put_json(name).put(':');
      between = ",";
    };
    bool has_frames = false;
    for (; at < steps.size() && steps[at].kind != Step::Kind::end_waiting; ++at) {
      const Step& step = steps[at];
      switch (step.kind) {
        case Step::Kind::leaf:
          member("for");
          write_leaf(step);
          break;
        case Step::Kind::begin_node:
          member("for");
          write_node(steps, at);
          break;
        case Step::Kind::frame:
          if (!has_frames) {
            member("at");
            out_.put('[');
          } else {
            out_.put(',');
          }
          has_frames = true;
          put_json_place(out_, step.where);
          break;
        case Step::Kind::left_out:
          out_.put(",{\"left_out\":").put(step.value).put('}');
          break;
        default:
          break;
      }
    }
    if (has_frames) out_.put(']');
    out_.put('}');
    ++at;
  }

  void write_node(std::span<const Step> steps, std::size_t& at) {
    const Shape& shape = *steps[at++].shape;
    out_.put("{\"kind\":").put_json(name_of(shape.kind));
    out_.put(",\"label\":").put_json(label_of(shape)).put(",\"of\":[");
    const char* between = "";
    while (at < steps.size() && steps[at].kind == Step::Kind::begin_waiting) {
      out_.put(between);
      between = ",";
      write_waiting(steps, at);
    }
    out_.put("]}");
  }

  void write_leaf(const Step& step) {
    const Shape& shape = *step.shape;
    out_.put("{\"kind\":").put_json(name_of(shape.kind)).put(",\"label\":");
    out_.put_json(label_of(shape));
    if (shape.count != 0) {
      if (shape.kind == Wait::join) {
        out_.put(",\"task\":").put(step.value);
      } else if (shape.kind == Wait::descriptor) {
        out_.put(",\"fd\":").put(step.value);
      } else if (shape.kind == Wait::sleep) {
        out_.put(",\"deadline_ns\":").put(step.value);
      } else {
        out_.put(",\"address\":\"").put_hex(step.value).put('"');
      }
    }
    if (step.holder != 0) out_.put(",\"held_by\":").put(std::uint64_t{step.holder});
    if (step.detail != nullptr) {
      out_.put(shape.kind == Wait::descriptor ? ",\"is\":" : ",\"name\":");
      out_.put_json(step.detail);
    }
    out_.put('}');
  }

  Out& out_;
  const Snapshot& snapshot_;
};

}  // namespace

void write_json(Out& out, const Snapshot& snapshot) { Json(out, snapshot).write(); }

}  // namespace rouse::sight
