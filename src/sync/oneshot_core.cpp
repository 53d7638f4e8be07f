#include "rouse/sync/internal/oneshot_core.hpp"

#include <utility>

namespace rouse::internal {

namespace {
void wake(RawWaker raw) {
  if (raw.vtable()) raw.vtable()->wake(raw.data());
}
void drop(RawWaker raw) {
  if (raw.vtable()) raw.vtable()->drop(raw.data());
}
}  // namespace

/// Ends with a word that has a bit of `until`, or with the waker of `cx` in the slot.
OneshotCore::Word OneshotCore::wait(Word waits, Slot& slot, Word until, Context& cx) noexcept {
  Word word = load();
  if ((word & until) != 0) return word;
  if ((word & waits) != 0) {
    const RawWaker kept = slot.get();
    if (kept.data() == cx.waker().as_raw().data() && kept.vtable() == cx.waker().as_raw().vtable())
      return word;
    stop_waiting(waits, slot);
    word = load();
  }
  Waker waker = cx.waker();
  slot.set(waker.as_raw());
  while ((word & until) == 0) {
    if (!exchange(word, (word | waits) + one_filling)) continue;
    (void)std::move(waker).into_raw();  // the word's now
    return word;
  }
  return word;
}

void OneshotCore::stop_waiting(Word waits, Slot& slot) noexcept {
  Word word = load();
  while ((word & waits) != 0) {
    const RawWaker kept = slot.get();
    if (exchange(word, word & ~waits)) return drop(kept);
  }
}

OneshotCore::Received OneshotCore::wait_to_receive(Context& cx) noexcept {
  return received(wait(receiver_waits, receiver_slot_, sender_ended | closed, cx));
}

bool OneshotCore::poll_closed(Context& cx) noexcept {
  return (wait(sender_waits, sender_slot_, closed, cx) & closed) != 0;
}

bool OneshotCore::publish() noexcept {
  Word word = load();
  while ((word & closed) == 0) {
    const RawWaker receiver = waker_of(word, receiver_waits, receiver_slot_);
    const RawWaker sender = waker_of(word, sender_waits, sender_slot_);
    constexpr Word ended = sender_ended | value_sent;
    if (!exchange(word, (word & ~(receiver_waits | sender_waits)) | ended)) continue;
    wake(receiver);
    drop(sender);
    return true;
  }
  return false;
}

bool OneshotCore::end_sender() noexcept {
  Word word = load();
  while ((word & receiver_ended) == 0) {
    const RawWaker receiver = waker_of(word, receiver_waits, receiver_slot_);
    const RawWaker sender = waker_of(word, sender_waits, sender_slot_);
    if (!exchange(word, (word & ~(receiver_waits | sender_waits)) | sender_ended)) continue;
    wake(receiver);
    drop(sender);
    return false;
  }
  return true;
}

void OneshotCore::close() noexcept {
  Word word = load();
  while ((word & (closed | sender_ended)) == 0) {
    const RawWaker sender = waker_of(word, sender_waits, sender_slot_);
    if (exchange(word, (word & ~sender_waits) | closed)) return wake(sender);
  }
}

bool OneshotCore::end_receiver(bool& value_left) noexcept {
  Word word = load();
  while ((word & sender_ended) == 0) {
    const RawWaker receiver = waker_of(word, receiver_waits, receiver_slot_);
    const RawWaker sender = waker_of(word, sender_waits, sender_slot_);
    constexpr Word ended = closed | receiver_ended;
    if (!exchange(word, (word & ~(receiver_waits | sender_waits)) | ended)) continue;
    wake(sender);
    drop(receiver);
    return false;
  }
  value_left = (word & value_sent) != 0;
  return true;
}

}  // namespace rouse::internal
