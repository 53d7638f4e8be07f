#include "rouse/sight/span.hpp"

#include <charconv>
#include <cmath>

#include "rouse/exec/internal/task_header.hpp"

#include "base/recorder.hpp"
#include "exec/task/current.hpp"

namespace rouse {
namespace {

using internal::TaskLocalNode;
using internal::TaskLocalValue;
using internal::recorder::record_now;
using internal::recorder::record_text;
using internal::recorder::What;
using sight::Field;
using sight::Fields;
using sight::TraceContext;
using sight::Value;
using Role = internal::recorder::Text::Role;

/// Its address tells the scopes of spans from those of others.
constexpr char key = 0;

const TraceContext* find_current() noexcept {
  return static_cast<const TraceContext*>(internal::find_task_local(&key));
}

std::uint32_t tag_here() noexcept {
  const internal::TaskHeader* const task = internal::this_thread.task;
  return task == nullptr ? 0 : task->tag();
}

template <class Number>
void record_number(Number number) noexcept {
  char text[32];
  const std::to_chars_result end = std::to_chars(text, text + sizeof text, number);
  record_text(Role::number, std::string_view(text, static_cast<std::size_t>(end.ptr - text)));
}

void record_value(const Value& value) noexcept {
  switch (value.kind()) {
    case Value::Kind::text:
      return record_text(Role::value, value.text());
    case Value::Kind::integer:
      return record_number(value.integer());
    case Value::Kind::negative:
      return record_number(static_cast<std::int64_t>(value.integer()));
    case Value::Kind::real:
      if (std::isfinite(value.real())) return record_number(value.real());
      return record_text(Role::value, std::isnan(value.real()) ? "nan"
                                      : value.real() < 0       ? "-inf"
                                                               : "inf");
    case Value::Kind::boolean:
      return record_text(Role::number, value.integer() != 0 ? "true" : "false");
  }
}

void record_texts(std::string_view name, const Fields& fields) noexcept {
  record_text(Role::name, name);
  for (const Field& field : fields.all()) {
    if (field.key().empty()) continue;
    record_text(Role::key, field.key());
    record_value(field.value());
  }
}

RefPtr<TaskLocalNode> make_node(const TraceContext& context) {
  return make_ref<TaskLocalValue<TraceContext>>(&key, TraceContext(context));
}

}  // namespace

std::optional<TraceContext> sight::current_trace() noexcept {
  const TraceContext* const found = find_current();
  return found == nullptr ? std::nullopt : std::optional(*found);
}

internal::BegunSpan internal::begin_span(std::string_view name, const Fields& fields,
                                         const TraceContext* caller) {
  const TraceContext* const around = caller != nullptr ? caller : find_current();
  if (!is_recording()) {
    BegunSpan passed_on;
    if (around != nullptr) passed_on.node = make_node(*around);
    return passed_on;
  }
  const TraceContext context = around == nullptr ? TraceContext::generate() : around->child();
  BegunSpan begun{.node = make_node(context), .open = OpenSpan(context.span_id())};
  record_now(What::span, tag_here(), context.span_id(), around == nullptr ? 0 : around->span_id());
  record_texts(name, fields);
  return begun;
}

void internal::OpenSpan::record_end(std::uint64_t id) noexcept {
  recorder::record(What::span_end, tag_here(), id);
}

void internal::record_event(std::string_view name, const Fields& fields) noexcept {
  const TraceContext* const span = find_current();
  record_now(What::event, tag_here(), span == nullptr ? 0 : span->span_id(), 0);
  record_texts(name, fields);
}

}  // namespace rouse
