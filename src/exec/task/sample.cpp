#include "exec/task/sample.hpp"

#include <cstring>

#include "rouse/base/thread.hpp"

#include "exec/task/current.hpp"
#include "sys/clock.hpp"
#include "sys/interrupt.hpp"

namespace rouse::internal {
namespace {

/// What the word of the slot says; above, the number of the request.
struct Asking {
  enum : std::uint64_t { idle, asked, taken, mask = 3, one_request = 4 };
};

struct SampleSlot {
  atomic<std::uint64_t> word{Asking::idle};
  atomic<sys::ThreadId> thread{0};  // who is asked: read before it is taken
  PollUnderWay poll{};
  bool is_given = false;
};
constinit SampleSlot sample_slot;
Sample sample_in_slot;
constinit atomic<int> sampling_users{0};
constinit atomic<int> sampling_signal{0};

/// What this thread does as that worker or LocalCore; null: it is not.
const ThreadContext* context_of(const void* owner) noexcept {
  for (const ThreadContext* in = &this_thread; in != nullptr; in = in->outer) {
    if (in->worker == owner || in->local == owner) return in;
  }
  return nullptr;
}

/// A task that a thread polls stands still in its handler: between `this_thread.task = &task`,
/// before the poll, and the store behind it. False: it is in no such poll.
bool describe(const PollUnderWay& poll, const sys::Interrupted& where, Sample& sample) noexcept {
  const ThreadContext* const context = context_of(poll.of);
  if (context == nullptr || context->task == nullptr || context->may_block) return false;
  const TaskHeader& task = *context->task;
  if (poll.task != nullptr && poll.task != &task) return false;
  sample.poll = poll.polls->get();
  sample.task = task.id();
  sample.spawned_at = task.spawned_at;
  sample.name[0] = 0;
  if (const char* const name = task.name()) {
    const std::size_t length = ::strnlen(name, Sample::longest_name - 1);
    std::memcpy(sample.name, name, length);
    sample.name[length] = 0;
  }
  sample.awaits_count = sample.awaits_cut = 0;
  if (task.content == TaskHeader::Content::future) {
    RunningWalk walk({.read = sys::read_if_mapped, .is_in_module = sys::is_in_module});
    walk.walk(*task.vtable.shape, task.future());
    sample.awaits_count = walk.copy(sample.awaits);
    sample.awaits_cut = walk.size() - sample.awaits_count;
  }
  sample.stack_count = sys::native_stack(where, sample.stack);
  return true;
}

/// In any thread, between any two instructions.
void answer(const sys::Interrupted& where) noexcept {
  std::uint64_t word = sample_slot.word.load(memory_order_relaxed);
  if ((word & Asking::mask) != Asking::asked) return;
  if (sample_slot.thread.load(memory_order_relaxed) != sys::current_thread_id()) return;
  // ORDER: acquire; sees what is asked.
  if (!sample_slot.word.compare_exchange_strong(word, (word & ~Asking::mask) | Asking::taken,
                                                memory_order_acquire, memory_order_relaxed)) {
    return;
  }
  sample_slot.is_given = describe(sample_slot.poll, where, sample_in_slot);
  // ORDER: release; publishes the sample.
  sample_slot.word.store(word & ~Asking::mask, memory_order_release);
}

void wait_a_little() noexcept {
  Mutex mutex;
  CondVar nobody_notifies;
  Lock lock(mutex);
  wait_for(nobody_notifies, lock, std::chrono::microseconds(50));
}

}  // namespace

Result<void> begin_sampling(int signal) noexcept {
  if (const Result<void> installed = sys::install_interrupt(signal, answer); !installed) {
    return installed;
  }
  sampling_signal.store(signal, memory_order_relaxed);
  sampling_users.fetch_add(1, memory_order_relaxed);
  return {};
}
void end_sampling() noexcept { sampling_users.fetch_sub(1, memory_order_relaxed); }

bool take_sample(const PollUnderWay& poll, std::chrono::nanoseconds patience,
                 Sample& into) noexcept {
  if (sampling_users.load(memory_order_relaxed) == 0) return false;
  if (poll.thread == 0 || poll.thread == sys::this_thread_id()) return false;
  sample_slot.poll = poll;
  sample_slot.is_given = false;
  sample_slot.thread.store(poll.thread, memory_order_relaxed);
  const std::uint64_t request =
      (sample_slot.word.load(memory_order_relaxed) & ~std::uint64_t{Asking::mask}) +
      Asking::one_request;
  // ORDER: release; publishes what is asked.
  sample_slot.word.store(request | Asking::asked, memory_order_release);
  const std::uint64_t until = sys::monotonic_ns() + static_cast<std::uint64_t>(patience.count());
  bool is_late = !sys::interrupt(poll.thread, sampling_signal.load(memory_order_relaxed));
  for (;;) {
    // ORDER: acquire; sees the sample.
    std::uint64_t word = sample_slot.word.load(memory_order_acquire);
    if ((word & Asking::mask) == Asking::idle) break;
    if ((word & Asking::mask) == Asking::asked && is_late) {
      // ORDER: relaxed; the handler has touched nothing.
      if (sample_slot.word.compare_exchange_strong(word, request, memory_order_relaxed,
                                                   memory_order_relaxed)) {
        return false;
      }
      continue;
    }
    wait_a_little();
    is_late = is_late || sys::monotonic_ns() >= until;
  }
  if (sample_slot.is_given) into = sample_in_slot;
  return sample_slot.is_given;
}

}  // namespace rouse::internal
