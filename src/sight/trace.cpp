#include "sight/trace.hpp"

#include <algorithm>
#include <bit>
#include <source_location>
#include <string_view>
#include <utility>

#include "rouse/exec/internal/spawn_place.hpp"
#include "rouse/io/ready.hpp"

#include "sight/recorded.hpp"
#include "sys/describe_code.hpp"
#include "sys/self.hpp"
#include "sys/ticks.hpp"

namespace rouse::sight {

using namespace rouse::internal::recorder;  // what there is in a record
namespace {

/// Writes one event: its begin, then members of `args`, then its end.
class Events {
 public:
  explicit Events(Out& out) noexcept : out_(out) {
    out_.put("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
  }
  void end() { out_.put("\n]}\n"); }

  struct Of {
    std::uint32_t thread;
    std::uint64_t ns;
  };
  Events& begin(std::string_view phase, Of of, std::string_view category, std::string_view name) {
    head(phase, of.thread).put(",\"ts\":").put(of.ns / 1000).put('.');
    for (std::uint64_t digit = 100; digit != 0; digit /= 10) {
      out_.put(static_cast<char>('0' + of.ns / digit % 10));
    }
    if (!category.empty()) out_.put(",\"cat\":").put_json(category);
    if (!name.empty()) out_.put(",\"name\":").put_json(name);
    return *this;
  }
  /// Of all that follow from this thread.
  void name_thread(const sys::ThreadName& thread) {
    head("M", thread.id).put(",\"name\":\"thread_name\",\"args\":{\"name\":");
    out_.put_json(thread.name).put("}}");
  }
  Events& with(std::string_view json) {
    out_.put(json);
    return *this;
  }
  Events& with_text(std::string_view text) {
    out_.put_json(text);
    return *this;
  }
  Events& with_number(std::string_view json, std::uint64_t number) {
    out_.put(json).put(number);
    return *this;
  }

  Events& arg(std::string_view name) {
    out_.put(has_args_ ? "," : ",\"args\":{").put_json(name).put(':');
    has_args_ = true;
    return *this;
  }
  Events& arg(std::string_view name, std::uint64_t value) {
    arg(name);
    out_.put(value);
    return *this;
  }
  Events& arg(std::string_view name, std::string_view value) {
    arg(name);
    out_.put_json(value);
    return *this;
  }
  Events& arg_address(std::string_view name, std::uint64_t value) {
    arg(name);
    out_.put('"').put_hex(value).put('"');
    return *this;
  }
  Events& arg_raw(std::string_view name, std::string_view number) {
    arg(name);
    out_.put(number);
    return *this;
  }
  Events& arg(const std::source_location& where) {
    return arg("code.file.path", where.file_name())
        .arg("code.line.number", std::uint64_t{where.line()})
        .arg("code.function.name", where.function_name());
  }
  Events& arg_if(std::string_view name, std::uint64_t value) {
    return value == 0 ? *this : arg(name, value);
  }
  void done() {
    out_.put(has_args_ ? "}}" : "}");
    has_args_ = false;
  }

 private:
  Out& head(std::string_view phase, std::uint32_t thread) {
    out_.put(is_first_ ? "\n{\"ph\":\"" : ",\n{\"ph\":\"").put(phase).put("\",\"pid\":");
    is_first_ = false;
    return out_.put(process_).put(",\"tid\":").put(std::uint64_t{thread});
  }

  Out& out_;
  const std::uint64_t process_ = static_cast<std::uint64_t>(sys::process_id());
  bool is_first_ = true;
  bool has_args_ = false;
};

constexpr std::string_view task_id = "rouse.task.id";

/// A text that follows a record, put together again.
class Joined {
 public:
  /// Takes as many records as belong to it, and at least one.
  explicit Joined(std::span<const Record>& records) noexcept {
    do {
      const Text part(records.front());
      if (size_ == 0) role_ = part.role;
      for (std::size_t i = 0; i < part.size && size_ != sizeof bytes_; ++i) {
        bytes_[size_++] = part.bytes[i];
      }
      records = records.subspan(1);
    } while (!records.empty() && Seen(records.front()).what() == What::text &&
             Text(records.front()).role == Text::Role::rest);
  }
  [[nodiscard]] std::string_view text() const noexcept { return {bytes_, size_}; }
  [[nodiscard]] Text::Role role() const noexcept { return role_; }

 private:
  char bytes_[Text::longest];
  std::size_t size_ = 0;
  Text::Role role_ = Text::Role::rest;
};

class TraceWriter {
 public:
  explicit TraceWriter(Out& out) noexcept : events_(out) {}

  void write() {
    for (const Track* track = recorded_.first(); track != nullptr; track = track->next) {
      write(*track);
    }
    events_.end();
  }

 private:
  void write(const Track& track) {
    begin_thread(first_thread(track));
    for (std::size_t i = 0; i < track.records.size(); ++i) {
      const Seen seen(track.records[i]);
      if (seen.what() == What::text || seen.ticks() < recorded_.began()) continue;
      if (seen.what() == What::thread_was) {
        begin_thread(next_thread(track, i + 1));
        continue;
      }
      if (!std::exchange(is_named_, true)) events_.name_thread(thread_);
      of_.ns = std::max(of_.ns, ns_of(seen.ticks()));
      // The texts of its fields.
      rest_ = track.records.subspan(i + 1);
      write(seen, track.notes[i]);
    }
  }

  static sys::ThreadName first_thread(const Track& track) noexcept { return next_thread(track, 0); }
  /// Whose the records from this one on are: the next that ends tells it.
  static sys::ThreadName next_thread(const Track& track, std::size_t from) noexcept {
    for (std::size_t i = from; i < track.records.size(); ++i) {
      const Seen seen(track.records[i]);
      if (seen.what() != What::thread_was) continue;
      sys::ThreadName thread{.id = seen.tag(), .name = {}};
      seen.name().copy(thread.name, sizeof thread.name - 1);
      return thread;
    }
    return track.thread;
  }
  void begin_thread(const sys::ThreadName& thread) {
    thread_ = thread;
    is_named_ = false;
    of_ = {.thread = thread.id, .ns = 0};
    depth_ = 0;
  }

  std::uint64_t ns_of(std::uint64_t ticks) const noexcept {
    return sys::ns_between(recorded_.began(), ticks);
  }

  void write(const Seen& seen, const Note& note) {
    switch (seen.what()) {
      case What::poll:
        return write_poll(seen, note);
      case What::call:
        open("blocking", "blocking call").arg(task_id, seen.tag());
        write_task_name(note);
        write_place(seen.first());
        events_.done();
        return write_arrow_end(note);
      case What::park:
        return open("worker", "asleep").done();
      case What::poll_end:
        if (close()) write_poll_end(seen);
        return;
      case What::call_end:
      case What::unpark:
        if (close()) events_.done();
        return;
      case What::span:
        return write_span(seen, nullptr);
      case What::span_end:
        if (note.other != nullptr) write_span(seen, note.other);
        return;
      default:
        return write_moment(seen, note);
    }
  }

  void write_poll(const Seen& seen, const Note& note) {
    const auto root = std::bit_cast<std::source_location>(seen.first());
    std::string_view name = note.other != nullptr ? Seen(*note.other).name() : root.function_name();
    if (name.empty()) name = "task";
    open("poll", name).arg(task_id, seen.tag());
    write_task_name(note);
    events_.done();
    write_arrow_end(note);
  }
  void write_poll_end(const Seen& seen) {
    switch (seen.second()) {
      case is_ended:
        events_.arg("then", "ended");
        break;
      case is_woken:
        events_.arg("then", "queued again");
        break;
      default:
        events_.arg("then", "waits");
        break;
    }
    if (seen.first() != 0) events_.arg(std::bit_cast<std::source_location>(seen.first()));
    events_.done();
  }

  /// `begin`: of one that ends.
  void write_span(const Seen& seen, const Record* begin) {
    const bool is_end = begin != nullptr;
    std::span<const Record> texts = is_end ? behind(begin) : rest_;
    if (!are_texts(texts)) return;
    const Joined name(texts);
    events_.begin(is_end ? "e" : "b", of_, "span", name.text());
    write_span_id(",\"id\":", seen.first());
    if (!is_end) {
      events_.arg_if(task_id, seen.tag());
      if (seen.second() != 0) {
        events_.arg("parent");
        write_span_id("", seen.second());
      }
      write_fields(texts);
    }
    events_.done();
  }
  void write_span_id(std::string_view before, std::uint64_t id) {
    char digits[18] = "\"";
    for (int i = 16; i > 0; --i, id /= 16) digits[i] = "0123456789abcdef"[id % 16];
    digits[17] = '"';
    events_.with(before).with({digits, sizeof digits});
  }
  /// The records of a track are in one piece, so what follows one is behind it.
  std::span<const Record> behind(const Record* record) const noexcept {
    for (const Track* track = recorded_.first(); track != nullptr; track = track->next) {
      const Record* const end = track->records.data() + track->records.size();
      if (record >= track->records.data() && record < end) return {record + 1, end};
    }
    return {};
  }
  static bool are_texts(std::span<const Record> records) noexcept {
    return !records.empty() && Seen(records.front()).what() == What::text;
  }
  void write_fields(std::span<const Record> texts) {
    if (!are_key(texts)) return;
    events_.arg("fields");
    std::string_view between = "{";
    while (are_key(texts)) {
      const Joined key(texts);
      if (!are_texts(texts)) break;
      const Joined value(texts);
      if (has_key(texts, key.text())) continue;  // the last counts
      events_.with(between).with_text(key.text()).with(":");
      if (value.role() == Text::Role::number) {
        events_.with(value.text());
      } else {
        events_.with_text(value.text());
      }
      between = ",";
    }
    events_.with(between == "{" ? "{}" : "}");
  }
  static bool are_key(std::span<const Record> records) noexcept {
    return are_texts(records) && Text(records.front()).role == Text::Role::key;
  }
  static bool has_key(std::span<const Record> texts, std::string_view wanted) noexcept {
    while (are_texts(texts)) {
      const Joined text(texts);
      if (text.role() == Text::Role::key && text.text() == wanted) return true;
    }
    return false;
  }

  void write_moment(const Seen& seen, const Note& note) {
    switch (seen.what()) {
      case What::spawn:
        moment("task", "spawn").arg(task_id, seen.tag()).arg_if("by task", seen.second());
        write_place(seen.first());
        events_.done();
        return write_arrow_begin(note);
      case What::wake:
        moment("task", "wake").arg(task_id, seen.tag()).arg_if("by task", seen.first()).done();
        return write_arrow_begin(note);
      case What::cancel:
        return moment("task", "cancel").arg(task_id, seen.tag()).done();
      case What::steal:
        return moment("worker", "steal").arg("tasks", seen.first()).done();
      case What::timers:
        return moment("worker", "timers").arg("due", seen.first()).done();
      case What::io:
        moment("worker", "descriptor ready").arg("descriptor", seen.first());
        return write_readiness(seen.second());
      case What::lock_wait:
        return write_lock("waits for a lock", seen);
      case What::lock_got:
        return write_lock("got a lock", seen);
      case What::event:
        return write_event(seen);
      default:
        return;
    }
  }
  void write_readiness(std::uint64_t flags) {
    if ((flags & io::Ready::readable) != 0) events_.arg_raw("readable", "true");
    if ((flags & io::Ready::writable) != 0) events_.arg_raw("writable", "true");
    events_.done();
  }
  void write_lock(std::string_view what, const Seen& seen) {
    moment("lock", what).arg(task_id, seen.tag()).arg_address("lock", seen.first()).done();
  }
  void write_event(const Seen& seen) {
    std::span<const Record> texts = rest_;
    if (!are_texts(texts)) return;
    const Joined name(texts);
    moment("event", name.text()).arg_if(task_id, seen.tag());
    if (seen.first() != 0) {
      events_.arg("span");
      write_span_id("", seen.first());
    }
    write_fields(texts);
    events_.done();
  }

  Events& open(std::string_view category, std::string_view name) {
    ++depth_;
    return events_.begin("B", of_, category, name);
  }
  /// False: its begin is not there any more.
  bool close() {
    if (depth_ == 0) return false;
    --depth_;
    events_.begin("E", of_, {}, {});
    return true;
  }
  Events& moment(std::string_view category, std::string_view name) {
    return events_.begin("i", of_, category, name).with(",\"s\":\"t\"");
  }

  /// An arrow begins and ends in slices: here there may be none.
  void write_arrow_begin(const Note& note) {
    if (note.arrow == 0) return;
    if (depth_ == 0) events_.begin("X", of_, "task", "wake").with(",\"dur\":0.001").done();
    events_.begin("s", of_, "wake", "wake").with_number(",\"id\":", note.arrow).done();
  }
  void write_arrow_end(const Note& note) {
    if (note.arrow == 0) return;
    events_.begin("f", of_, "wake", "wake").with_number(",\"bp\":\"e\",\"id\":", note.arrow).done();
  }
  void write_task_name(const Note& note) {
    if (note.other != nullptr) events_.arg("rouse.task.name", Seen(*note.other).name());
  }
  void write_place(std::uint64_t word) {
    const auto place = std::bit_cast<rouse::internal::SpawnPlace>(word);
    if (place.code() == 0) {
      if (place.source().line() != 0) events_.arg(place.source());
      return;
    }
    const sys::CodePlace code = sys::place_of_code(place.code());
    events_.arg("code.module", code.module == nullptr ? "" : code.module);
    events_.arg_address("code.offset", code.offset);
  }

  const Recorded recorded_;
  Events events_;
  sys::ThreadName thread_{};
  bool is_named_ = false;  // it has events, so its name was written
  Events::Of of_{};
  unsigned depth_ = 0;
  std::span<const Record> rest_;  // behind the record that is written
};

}  // namespace

void write_trace(Out& out) noexcept { TraceWriter(out).write(); }

}  // namespace rouse::sight
