#include "sight/formats.hpp"

namespace rouse::sight {

using rouse::internal::Examinable;
using rouse::internal::SeenTask;

void write(Out& out, const Snapshot& snapshot, Format format) {
  switch (format) {
    case Format::text:
      return write_text(out, snapshot);
    case Format::json:
      return write_json(out, snapshot);
    case Format::folded:
      return write_folded(out, snapshot);
  }
}

std::string_view name_of(SeenTask::State state) noexcept {
  switch (state) {
    case SeenTask::State::idle:
      return "idle";
    case SeenTask::State::queued:
      return "queued";
    case SeenTask::State::running:
      return "running";
    case SeenTask::State::blocking:
      return "blocking";
  }
  return "";
}

std::string_view name_of(Examinable::Kind kind) noexcept {
  switch (kind) {
    case Examinable::Kind::pool:
      return "pool";
    case Examinable::Kind::local:
      return "local";
    case Examinable::Kind::blocking:
      return "blocking";
  }
  return "";
}

std::string_view name_of(Wait kind) noexcept {
  switch (kind) {
    case Wait::lock:
      return "lock";
    case Wait::shared:
      return "shared";
    case Wait::permits:
      return "permits";
    case Wait::receive:
      return "receive";
    case Wait::send:
      return "send";
    case Wait::notify:
      return "notify";
    case Wait::cell:
      return "cell";
    case Wait::init:
      return "init";
    case Wait::join:
      return "join";
    case Wait::sleep:
      return "sleep";
    case Wait::descriptor:
      return "descriptor";
    case Wait::blocking:
      return "blocking";
    case Wait::turn:
      return "turn";
    case Wait::never:
      return "never";
    case Wait::fork:
      return "fork";
    case Wait::scope:
      return "scope";
    case Wait::all_of:
      return "all_of";
    case Wait::any_of:
      return "any_of";
    case Wait::one:
      return "one";
    default:
      return "opaque";
  }
}

std::string_view label_of(const Shape& shape) noexcept {
  if (shape.kind == Wait::opaque) return opaque_type(shape.label);
  return shape.label == nullptr ? name_of(shape.kind) : shape.label;
}

// --- Folded stacks: outermost first. ---

namespace {

/// A name without what would end it.
void put_folded(Out& out, std::string_view name) {
  for (const char c : name) out.put(c == ';' || c == '\n' ? ',' : c);
}

/// What the innermost of a task waits for; of several the first.
void put_leaf(Out& out, std::span<const Step> steps) {
  for (const Step& step : steps) {
    if (step.kind == Step::Kind::begin_node && step.shape->kind != Wait::one) {
      return put_folded(out, label_of(*step.shape));
    }
    if (step.kind != Step::Kind::leaf) continue;
    return put_folded(out, label_of(*step.shape));
  }
}

}  // namespace

void write_folded(Out& out, const Snapshot& snapshot) {
  for (const Executor* executor = snapshot.first(); executor; executor = executor->next) {
    for (const Group* group = executor->first; group; group = group->next) {
      out.put(name_of(group->state));
      // The frames of the outermost chain are the last ones.
      std::size_t depth = 0;
      for (std::size_t i = group->steps.size(); i-- > 0;) {
        const Step& step = group->steps[i];
        if (step.kind == Step::Kind::end_waiting) ++depth;
        if (step.kind == Step::Kind::begin_waiting) --depth;
        if (step.kind != Step::Kind::frame || depth != 1) continue;
        out.put(';');
        put_folded(out, step.where.function_name());
        out.put(':').put(std::uint64_t{step.where.line()});
      }
      if (!group->steps.empty()) {
        out.put(';');
        put_leaf(out, group->steps);
      }
      out.put(' ').put(group->count).put('\n');
    }
  }
}

}  // namespace rouse::sight
