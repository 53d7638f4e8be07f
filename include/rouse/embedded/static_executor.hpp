// StaticExecutor<N>: runs at most N tasks without heap, exceptions, RTTI, threads or an operating
// system, for kernels and microcontrollers. It runs every future that needs only a Waker.
//
// It has two sides. The executor's own context (one thread or core) calls every member but
// `needs_run`. Wakers may be used anywhere at any time: in an interrupt or signal handler, on
// another core, in another thread. A wake is two atomic instructions; it never waits or fails.
//
//  1. Only the executor's context touches slots; `owner` is constant. Wakers share only bits.
//  2. A wake sets the task's bit in `woken_`, then that word's bit in `need_run_`. A round takes
//     `need_run_`, then looks at the words it names. So a bit that a round does not see is named
//     by `need_run_` afterwards, and the next round sees it: no wake is lost.
//  3. A task's bit is cleared directly before its poll: all wakes up to there cost this one poll,
//     a wake during the poll causes one more.
//  4. A waker names a slot, not a task. After the task's end a wake finds the slot empty and does
//     nothing, or costs the slot's next task a spurious poll, which every future tolerates.
#pragma once

#include <concepts>
#include <cstddef>

#include "rouse/base/assert.hpp"
#include "rouse/base/atomic.hpp"
#include "rouse/core/context.hpp"
#include "rouse/core/future.hpp"
#include "rouse/core/waker.hpp"

namespace rouse {

/// Wakers point into the executor without counting, so it must outlive them: make it a global. It
/// owns no future and needs no destructor. About three words of memory per task.
template <std::size_t N>
class StaticExecutor {
  static_assert(N > 0, "an executor without room for a task");

 public:
  constexpr StaticExecutor() noexcept : StaticExecutor(nullptr) {}

  /// `kick` is called, where the wake happens, by the first wake after a round has begun. It must
  /// end a running `idle` (see `run`): send an event, an inter-processor interrupt, a futex wake.
  /// Needed only if wakes come from elsewhere than the interrupts of the executor's own core: those
  /// end the wait by themselves. Must be safe in an interrupt handler.
  explicit constexpr StaticExecutor(void (*kick)() noexcept) noexcept : kick_(kick) {
    for (std::size_t i = N; i-- > 0;) {
      slots_[i].owner = this;
      free_slot(slots_[i]);
    }
  }

  StaticExecutor(const StaticExecutor&) = delete;
  StaticExecutor& operator=(const StaticExecutor&) = delete;

  /// Makes `future` a task, to be polled in the next round. False if there are N tasks already.
  /// The future must live, unmoved, until it is ready or the executor is never run again: a task
  /// has no other end. Adapt a future with a value to `void` yourself: nobody would see the value.
  /// Only from the executor's context, also from inside a task; not from an interrupt handler.
  template <Future F>
    requires std::same_as<output_t<F>, void>
  [[nodiscard]] bool spawn(F& future) noexcept {
    Slot* slot = free_;
    if (!slot) return false;
    free_ = static_cast<Slot*>(slot->target);
    slot->target = &future;
    // noexcept: an exception would leave a round half done. In a hosted build it ends the program.
    slot->poll = [](void* target, Context& cx) noexcept {
      return static_cast<F*>(target)->poll(cx).is_ready();
    };
    ++live_;
    wake(*slot);
    return true;
  }

  /// One round: polls every task that was woken before it began, once, in the order of the slots.
  /// A task woken meanwhile may get its poll in this round or the next, never a second in this one:
  /// a task that wakes itself cannot starve others. Not from inside a task.
  /// Returns `needs_run()`.
  bool run_once() noexcept {
    ROUSE_ASSERT(!in_round_, "StaticExecutor::run_once() was called from inside a task");
    in_round_ = true;
    // ORDER: acquire; sees the `woken_` bit of every wake that named its word here. All writers are
    // read-modify-writes, so this sees what each of them released, not only the last.
    Word named = need_run_.exchange(0, memory_order_acquire);
    for (; named != 0; named &= named - 1) {
      const auto first = static_cast<std::size_t>(__builtin_ctzl(named));
      for (std::size_t word = first; word < word_count; word += word_bits) poll_word(word);
    }
    in_round_ = false;
    return needs_run();
  }

  /// Runs until no task is left. When none is woken it calls `idle(*this)`, which may sleep. A wake
  /// can come between the executor's last look and the sleep, so `idle` must look again with the
  /// sources of wakes held back, and begin to sleep and let them in as one step:
  ///
  ///   executor.run([](const auto& ex) {
  ///     mask_interrupts();                             // cpsid i    cli        block SIGALRM
  ///     if (!ex.needs_run()) wait_for_interrupt();     // wfi        sti; hlt   sigsuspend
  ///     unmask_interrupts();                           // cpsie i    sti        restore the mask
  ///   });
  ///
  /// `wfi` ends when a masked interrupt is pending, `sti; hlt` and `sigsuspend` unmask and wait at
  /// once: a wake before the look is seen by it, a later one ends the wait. With wakes from other
  /// cores `kick` has to be sticky in the same way (`sev` and `wfe`, a futex or eventfd). Returning
  /// early is always allowed. An `idle` that does nothing makes a busy loop.
  template <class Idle>
    requires std::invocable<Idle&, const StaticExecutor&>
  void run(Idle&& idle) {
    while (live_ != 0) {
      if (!run_once() && live_ != 0) idle(static_cast<const StaticExecutor&>(*this));
    }
  }

  /// Whether a wake came that no round has taken. It may be true without a task to poll (a task's
  /// end was faster than the wake); it is false only if there is nothing to do. From anywhere.
  /// ORDER: relaxed; publishes nothing: what holds the wakes back in `idle` also orders this look.
  [[nodiscard]] bool needs_run() const noexcept {
    return need_run_.load(memory_order_relaxed) != 0;
  }

  /// Tasks that are not ready yet.
  [[nodiscard]] std::size_t live() const noexcept { return live_; }

 private:
  using Word = std::size_t;
  static_assert(sizeof(Word) == sizeof(long));  // for __builtin_ctzl
  static constexpr std::size_t word_bits = sizeof(Word) * 8;
  static constexpr std::size_t word_count = (N + word_bits - 1) / word_bits;
  static_assert(atomic<Word>::is_always_lock_free, "a wake in an interrupt handler must not lock");

  struct Slot {
    StaticExecutor* owner = nullptr;
    void* target = nullptr;  // the future; in a free slot the next free one
    bool (*poll)(void*, Context&) noexcept = nullptr;  // true if ready; null in a free slot
  };

  // What a waker does with its data pointer, a Slot. Copies share nothing that could be counted.
  static RawWaker clone_waker(const void* slot) { return RawWaker(slot, &waker_vtable); }
  static void wake_slot(const void* data) {
    const auto* slot = static_cast<const Slot*>(data);
    slot->owner->wake(*slot);
  }
  static void drop_waker(const void*) {}
  static constexpr RawWakerVTable waker_vtable{clone_waker, wake_slot, wake_slot, drop_waker};

  void wake(const Slot& slot) noexcept {
    const auto index = static_cast<std::size_t>(&slot - slots_);
    const std::size_t word = index / word_bits;
    // ORDER: release; publishes what the task will look at, to the poll that takes the bit. Also if
    // the bit was set already.
    woken_[word].fetch_or(Word{1} << (index % word_bits), memory_order_release);
    // ORDER: release; publishes the bit above to the round that takes this one. Also if it was set
    // already: whoever set it may have been stopped halfway, and a plain store would hide it.
    const Word before = need_run_.fetch_or(Word{1} << (word % word_bits), memory_order_release);
    if (before == 0 && kick_) kick_();
  }

  void poll_word(std::size_t word) noexcept {
    // The round's share is fixed here. Relaxed is enough: the bits of wakes that came before the
    // round were made visible by `need_run_`.
    for (Word todo = woken_[word].load(memory_order_relaxed); todo != 0; todo &= todo - 1) {
      const auto bit = static_cast<std::size_t>(__builtin_ctzl(todo));
      // ORDER: acquire; sees what every wake up to here published. A later wake sets the bit anew.
      woken_[word].fetch_and(~(Word{1} << bit), memory_order_acquire);
      poll_slot(slots_[word * word_bits + bit]);
    }
  }

  void poll_slot(Slot& slot) noexcept {
    if (!slot.poll) return;  // woken after its task's end
    const Waker waker = Waker::from_raw(RawWaker(&slot, &waker_vtable));
    Context cx(waker, Context::task_budget);
    if (!slot.poll(slot.target, cx)) return;
    free_slot(slot);
    --live_;
  }

  constexpr void free_slot(Slot& slot) noexcept {
    slot.poll = nullptr;
    slot.target = free_;
    free_ = &slot;
  }

  atomic<Word> need_run_{0};             // bit w % word_bits: word w of woken_ has a bit to look at
  atomic<Word> woken_[word_count] = {};  // bit b of word w: slot w * word_bits + b is to be polled
  void (*kick_)() noexcept;
  Slot slots_[N] = {};
  Slot* free_ = nullptr;
  std::size_t live_ = 0;
  bool in_round_ = false;
};

}  // namespace rouse
