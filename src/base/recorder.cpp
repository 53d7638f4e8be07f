#include "base/recorder.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>
#include <utility>

#include "rouse/base/thread.hpp"

#include "sys/memory.hpp"
#include "sys/process_fork.hpp"
#include "sys/ticks.hpp"

namespace rouse::internal {

constinit atomic<std::uint32_t> recording{0};
constinit atomic<bool> spans_are_recorded{false};

void record_lock_wait(std::uint32_t task_tag, const void* lock) noexcept {
  recorder::record_now(recorder::What::lock_wait, task_tag, reinterpret_cast<std::uintptr_t>(lock),
                       0);
}
void record_lock_got(std::uint32_t task_tag, const void* lock) noexcept {
  recorder::record_now(recorder::What::lock_got, task_tag, reinterpret_cast<std::uintptr_t>(lock),
                       0);
}

namespace recorder {
namespace {

constexpr std::size_t page = 4096;
constexpr std::size_t fewest_bytes = page;
constexpr std::size_t most_bytes = std::size_t{1} << 30;

/// At the beginning of the pages of a ring; the slots are on those behind.
struct ThreadRing {
  explicit ThreadRing(std::span<Ring::Slot> slots) noexcept
      : records(slots), bytes(slots.size_bytes()) {}

  Ring records;
  const std::size_t bytes;
  // Under the lock.
  ThreadRing* next = nullptr;
  sys::ThreadName thread{};
  bool is_left = false;
  std::uint64_t left_at = 0;

  static ThreadRing* map(std::size_t bytes) noexcept {
    auto* const pages = static_cast<char*>(sys::map_pages(page + bytes, page));
    if (pages == nullptr) return nullptr;
    // All zero is what new slots are.
    auto* const slots = reinterpret_cast<Ring::Slot*>(pages + page);
    return new (pages) ThreadRing({slots, bytes / sizeof(Ring::Slot)});
  }
  void unmap() noexcept { sys::unmap_pages(this, page + bytes); }
  /// What is written meanwhile is older than the next recording.
  void forget() noexcept { sys::drop_pages(reinterpret_cast<char*>(this) + page, bytes); }
};
static_assert(sizeof(ThreadRing) <= page);

/// The locks are taken in this order. Under the second no memory is asked for.
struct Recorder {
  Mutex reader;  // rings are unmapped under it only
  Mutex mutex;
  ThreadRing* first = nullptr;
  std::uint32_t users = 0;
  std::uint32_t last_number = 0;
  std::size_t bytes = 0;
  std::uint64_t began = 0;
};
/// Never destroyed: threads record until the very end.
Recorder& all() noexcept {
  alignas(Recorder) static char place[sizeof(Recorder)];
  static Recorder& made = *new (place) Recorder;
  return made;
}

struct Own {
  ThreadRing* ring;      // null: there was no memory
  std::uint32_t number;  // of the recording that it was last used in
  bool has_ended;
};
constinit thread_local Own own{};

void set_recording(std::uint32_t number) noexcept {
  // ORDER: release; publishes what the clock of ticks is worth.
  recording.store(number, memory_order_release);
  spans_are_recorded.store(number != 0, memory_order_release);
}

/// Once nobody records.
void unmap_left() noexcept {
  const Lock reader(all().reader);
  ThreadRing* left = nullptr;
  {
    const Lock lock(all().mutex);
    if (all().users != 0) return;
    for (ThreadRing** link = &all().first; *link != nullptr;) {
      ThreadRing& ring = **link;
      if (ring.is_left) {
        *link = std::exchange(ring.next, left);
        left = &ring;
      } else {
        link = &ring.next;
      }
    }
  }
  while (left != nullptr) std::exchange(left, left->next)->unmap();
}

void leave_ring() noexcept {
  own.has_ended = true;
  ThreadRing* const ring = std::exchange(own.ring, nullptr);
  if (ring == nullptr) return;
  {
    const Lock lock(all().mutex);
    ring->is_left = true;
    ring->left_at = sys::ticks();
    if (all().users != 0) return;
  }
  unmap_left();
}
struct AtThreadEnd {
  ~AtThreadEnd() { leave_ring(); }
};

Record make_record(std::uint64_t ticks, What what, std::uint32_t tag, std::uint64_t first,
                   std::uint64_t second) noexcept {
  return {ticks, std::uint64_t{static_cast<std::uint8_t>(what)} << 32 | tag, first, second};
}
void put_name(Record& record, const char* name, std::size_t size) noexcept {
  std::memcpy(&record[2], name, std::min(size, 2 * sizeof record[2]));
}

/// Of those that ended the one that was left first. Under the lock.
ThreadRing* find_left(std::size_t bytes) noexcept {
  ThreadRing* found = nullptr;
  for (ThreadRing* ring = all().first; ring != nullptr; ring = ring->next) {
    if (!ring->is_left || ring->bytes != bytes) continue;
    if (found == nullptr || ring->left_at < found->left_at) found = ring;
  }
  return found;
}
ThreadRing* take_left(std::size_t bytes, const sys::ThreadName& name) noexcept {
  const Lock lock(all().mutex);
  ThreadRing* const ring = find_left(bytes);
  if (ring == nullptr) return nullptr;
  ring->is_left = false;
  Record before = make_record(sys::ticks(), What::thread_was, ring->thread.id, 0, 0);
  put_name(before, ring->thread.name, sizeof ring->thread.name);
  ring->records.push(before);
  ring->thread = name;
  return ring;
}
ThreadRing* make_ring(std::size_t bytes, const sys::ThreadName& name) noexcept {
  ThreadRing* const ring = ThreadRing::map(bytes);
  if (ring == nullptr) return nullptr;
  ring->thread = name;
  const Lock lock(all().mutex);
  ring->next = std::exchange(all().first, ring);
  return ring;
}

/// The first record of this thread in this recording.
[[gnu::noinline, gnu::cold]] void get_ring(std::uint32_t number) noexcept {
  if (number == 0 || own.has_ended) return;
  own.number = number;
  std::size_t bytes = 0;
  {
    const Lock lock(all().mutex);
    bytes = all().bytes;
    if (own.ring != nullptr && own.ring->bytes != bytes) {
      own.ring->is_left = true;  // until `stop`
      own.ring = nullptr;
    }
  }
  if (own.ring != nullptr) return;
  static const thread_local AtThreadEnd at_end;
  const sys::ThreadName name = sys::this_thread_name();
  own.ring = take_left(bytes, name);
  if (own.ring == nullptr) own.ring = make_ring(bytes, name);
}

void push(const Record& record) noexcept {
  const std::uint32_t number = recording.load(memory_order_relaxed);
  if (own.number != number) [[unlikely]] {
    get_ring(number);
    if (own.number != number) return;
  }
  if (own.ring != nullptr) own.ring->records.push(record);
}

[[maybe_unused]] const bool forks_are_watched =
    model_checker || sys::at_process_fork(
                         [] {
                           all().reader.lock();
                           all().mutex.lock();
                         },
                         [] {
                           all().mutex.unlock();
                           all().reader.unlock();
                         },
                         [] {
                           // The others' threads do not exist, and who asked for it can't stop it.
                           set_recording(0);
                           all().users = 0;
                           while (ThreadRing* const ring = all().first) {
                             all().first = ring->next;
                             ring->unmap();
                           }
                           own.ring = nullptr;
                           own.number = 0;
                           all().mutex.unlock();
                           all().reader.unlock();
                         });

}  // namespace

void record_at(std::uint64_t ticks, What what, std::uint32_t tag, std::uint64_t first,
               std::uint64_t second) noexcept {
  push(make_record(ticks, what, tag, first, second));
}
void record_now(What what, std::uint32_t tag, std::uint64_t first, std::uint64_t second) noexcept {
  record_at(sys::ticks(), what, tag, first, second);
}

void record_task_name(std::uint32_t tag, const char* name) noexcept {
  Record record = make_record(sys::ticks(), What::task_name, tag, 0, 0);
  put_name(record, name, std::strlen(name));
  push(record);
}

void record_text(Text::Role role, std::string_view text) noexcept {
  text = text.substr(0, Text::longest);
  do {
    const std::string_view part = text.substr(0, Text::room);
    text.remove_prefix(part.size());
    char bytes[Text::room] = {};
    std::memcpy(bytes, part.data(), part.size());
    Record record = make_record(
        0, What::text,
        static_cast<std::uint32_t>(part.size()) << 8 | static_cast<std::uint32_t>(role), 0, 0);
    std::memcpy(record.data(), bytes, 8);
    std::memcpy(&record[2], bytes + 8, 16);
    push(record);
    role = Text::Role::rest;
  } while (!text.empty());
}

Text::Text(const Record& record) noexcept
    : role(static_cast<Role>(Seen(record).tag() & 0xff)),
      size(static_cast<std::uint8_t>(Seen(record).tag() >> 8)) {
  std::memcpy(bytes, record.data(), 8);
  std::memcpy(bytes + 8, &record[2], 16);
}

std::string_view Seen::name() const noexcept {
  const char* const bytes = reinterpret_cast<const char*>(&(*record_)[2]);
  return {bytes, ::strnlen(bytes, 2 * sizeof(std::uint64_t))};
}

std::uint32_t start(std::size_t bytes_a_thread) noexcept {
  sys::prepare_ticks();
  const Lock lock(all().mutex);
  Recorder& recorder = all();
  if (recorder.users++ == 0) {
    recorder.bytes = std::bit_ceil(std::clamp(bytes_a_thread, fewest_bytes, most_bytes));
    recorder.began = sys::ticks();
    if (++recorder.last_number == 0) ++recorder.last_number;
    set_recording(recorder.last_number);
  }
  return recorder.last_number;
}

void stop(std::uint32_t number) noexcept {
  {
    const Lock lock(all().mutex);
    Recorder& recorder = all();
    if (recorder.last_number != number || recorder.users == 0) return;
    if (--recorder.users; recorder.users != 0) return;
    set_recording(0);
    for (ThreadRing* ring = recorder.first; ring != nullptr; ring = ring->next) ring->forget();
  }
  unmap_left();
}

std::uint64_t began_at() noexcept {
  const Lock lock(all().mutex);
  return all().began;
}

void read_all(FunctionRef<std::span<Record>(std::size_t)> room,
              FunctionRef<void(const sys::ThreadName&, std::span<Record>)> see) noexcept {
  const Lock reader(all().reader);
  Lock lock(all().mutex);
  if (all().users == 0) return;
  for (ThreadRing* ring = all().first; ring != nullptr; ring = ring->next) {
    const std::size_t records =
        std::min<std::uint64_t>(ring->records.end(), ring->records.capacity());
    lock.unlock();
    const std::span<Record> out = room(records);
    lock.lock();
    const std::span<Record> copied = ring->records.copy(out);
    const sys::ThreadName thread = ring->thread;
    lock.unlock();
    see(thread, copied);
    lock.lock();
  }
}

}  // namespace recorder
}  // namespace rouse::internal
