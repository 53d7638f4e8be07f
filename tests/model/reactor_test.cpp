// Models of the reactor: descriptors that come and go in slots that are used again, against events
// that are handed out and against its end. The kernel is the stand-in of src/model/sys.
#include "io/reactor.hpp"

#include <chrono>
#include <memory>
#include <utility>

#include <gtest/gtest.h>

#include "rouse/base/thread.hpp"
#include "rouse/exec/park.hpp"
#include "rouse/io/error.hpp"
#include "rouse/model/block_on.hpp"
#include "rouse/model/model.hpp"

#include "model/waiting.hpp"

namespace rouse::model {

using namespace internal;
namespace {

using io::Interest;
using io::Ready;

/// Until the source is readable, or the runtime has ended.
struct Readable {
  using Output = Ready;
  IoSource& source;
  Poll<Ready> poll(Context& cx) {
    Ready now;
    if (!source.poll_ready(Interest::readable, cx, now)) return pending;
    return Poll<Ready>::ready(now);
  }
};

/// A reactor and the kernel under it.
class Watch {
 public:
  Watch() : Watch(sys::Poller::make().value()) {}

  /// Nothing of it is ready.
  IoSource& add(int fd) {
    IoSource& source = *reactor->add(fd, Interest::readable).value();
    source.clear_blocked(source.ready(), Interest::readable);
    return source;
  }
  void remove(IoSource& source, int fd) { reactor->remove(source, fd); }
  void dispatch() {
    reactor->wait(std::chrono::nanoseconds(0));
    reactor->dispatch();
  }

 private:
  explicit Watch(std::unique_ptr<sys::Poller> poller)
      : kernel(*poller), reactor(make_ref<Reactor>(std::move(poller))) {}

 public:
  sys::Poller& kernel;
  const RefPtr<Reactor> reactor;
};

TEST(ReactorModel, WhoTakesASlotThatIsGivenBackGetsItsOwnEvents) {
  check([] {
    Watch watch;
    IoSource& old = watch.add(1);
    Thread other([&] { watch.remove(old, 1); });
    IoSource& next = watch.add(2);
    watch.kernel.happens(2, Ready::readable);
    watch.dispatch();
    ensure(next.ready().is_readable(), "the event is for this one");
    other.join();
    ensure(next.ready().is_readable(), "and stays");
    watch.remove(next, 2);
  });
}

TEST(ReactorModel, WhoTakesTheSlotOfOneThatWasRefusedGetsItsOwnEvents) {
  check([] {
    Watch watch;
    IoSource& first = watch.add(1);
    Thread other([&] {
      const Result<IoSource*> again = watch.reactor->add(1, Interest::readable);
      ensure(!again && again.error() == std::errc::file_exists);
    });
    IoSource& next = watch.add(2);
    watch.kernel.happens(2, Ready::readable);
    watch.dispatch();
    ensure(next.ready().is_readable(), "the event is for this one");
    other.join();
    ensure(next.ready().is_readable(), "and stays");
    watch.remove(first, 1);
    watch.remove(next, 2);
  });
}

TEST(ReactorModel, AnEventThatWasFoundIsNotForTheNextInTheSlot) {
  check([] {
    Watch watch;
    IoSource& old = watch.add(1);
    watch.kernel.happens(1, Ready::readable | Ready::error);
    Thread reactor([&] { watch.dispatch(); });
    watch.remove(old, 1);
    IoSource& next = watch.add(2);
    ensure(&next == &old, "the slot is used again: otherwise this shows nothing");
    reactor.join();
    ensure(!next.ready().is_readable(), "it was of the one before");
    watch.remove(next, 2);
  });
}

TEST(ReactorModel, WhoWaitsInASlotThatIsUsedAgainIsWokenByItsOwnEvent) {
  check([] {
    Watch watch;
    IoSource& old = watch.add(1);
    watch.kernel.happens(1, Ready::readable);
    atomic<bool> done{false};
    Thread reactor([&] {
      while (!done.load(memory_order_relaxed)) {
        watch.reactor->wait(Park::for_ever);
        watch.reactor->dispatch();
      }
    });
    watch.remove(old, 1);
    IoSource& next = watch.add(2);
    watch.kernel.happens(2, Ready::readable);
    ensure(block_on(Readable{next}).is_readable());
    done.store(true, memory_order_relaxed);
    watch.reactor->wake();
    reactor.join();
    watch.remove(next, 2);
  });
}

TEST(ReactorModel, TwoThatComeAtOnceHaveSlotsOfTheirOwn) {
  check([] {
    Watch watch;
    IoSource* first = nullptr;
    Thread other([&] { first = &watch.add(1); });
    IoSource& second = watch.add(2);
    other.join();
    ensure(first != &second);
    watch.kernel.happens(1, Ready::readable);
    watch.dispatch();
    ensure(first->ready().is_readable() && !second.ready().is_readable());
    watch.remove(*first, 1);
    watch.remove(second, 2);
  });
}

TEST(ReactorModel, AnEventOfADescriptorInANewChunkOfSlotsFindsIt) {
  check([] {
    Watch watch;
    IoSource& first = watch.add(1);
    IoSource& second = watch.add(2);  // the chunk is full
    Thread reactor([&] {
      watch.reactor->wait(Park::for_ever);
      watch.reactor->dispatch();
    });
    IoSource& third = watch.add(3);
    watch.kernel.happens(3, Ready::readable);
    ensure(block_on(Readable{third}).is_readable());
    reactor.join();
    watch.remove(first, 1);
    watch.remove(second, 2);
    watch.remove(third, 3);
  });
}

TEST(ReactorModel, WhatIsAddedWhileItIsClosedIsRefusedOrToldSo) {
  check([] {
    Watch watch;
    IoSource& before = watch.add(1);
    Thread closing([&] { watch.reactor->close(); });
    const Result<IoSource*> added = watch.reactor->add(2, Interest::readable);
    if (added) {
      IoSource& source = **added;
      source.clear_blocked(source.ready(), Interest::readable);
      const Ready now = block_on(Readable{source});
      ensure((now.word() & Ready::runtime_ended) != 0, "nothing else can have woken it");
      watch.remove(source, 2);
    } else {
      ensure(added.error() == io::Error::runtime_ended);
    }
    closing.join();
    ensure((before.ready().word() & Ready::runtime_ended) != 0);
    watch.remove(before, 1);
  });
}

TEST(ReactorModel, WhatIsAddedInASlotThatIsUsedAgainWhileItIsClosedIsRefusedOrToldSo) {
  check(
      [] {
        Watch watch;
        IoSource& before = watch.add(1);
        Thread closing([&] { watch.reactor->close(); });
        watch.remove(before, 1);
        const Result<IoSource*> added = watch.reactor->add(2, Interest::readable);
        if (added) {
          IoSource& source = **added;
          source.clear_blocked(source.ready(), Interest::readable);
          const Ready now = block_on(Readable{source});
          ensure((now.word() & Ready::runtime_ended) != 0, "nothing else can have woken it");
          watch.remove(source, 2);
        }
        closing.join();
      },
      {.old_value_bound = 1});
}

TEST(ReactorModel, AWakerOfADescriptorThatGoesWhileItIsClosedIsDroppedOnce) {
  check([] {
    Watch watch;
    IoSource& source = watch.add(1);
    Readable waiting{source};
    ensure(!is_ready_for(make_ref<ParkedThread>(), waiting));
    Thread closing([&] { watch.reactor->close(); });
    watch.remove(source, 1);
    closing.join();
  });
}

TEST(ReactorModel, AWakerOfADescriptorThatGoesWhileItsEventIsHandedOutIsDroppedOnce) {
  check([] {
    Watch watch;
    IoSource& source = watch.add(1);
    Readable waiting{source};
    ensure(!is_ready_for(make_ref<ParkedThread>(), waiting));
    watch.kernel.happens(1, Ready::readable);
    Thread reactor([&] { watch.dispatch(); });
    watch.remove(source, 1);
    reactor.join();
  });
}

TEST(ReactorModel, ADescriptorGoesAndComesWhileEventsAreHandedOutAndItIsClosed) {
  check(
      [] {
        Watch watch;
        IoSource& old = watch.add(1);
        watch.kernel.happens(1, Ready::error);
        Thread reactor([&] {
          watch.dispatch();
          watch.reactor->close();
        });
        Thread other([&] { watch.remove(old, 1); });
        const Result<IoSource*> added = watch.reactor->add(2, Interest::readable);
        if (added) {
          IoSource& source = **added;
          source.clear_blocked(source.ready(), Interest::readable);
          const Ready now = block_on(Readable{source});
          ensure((now.word() & Ready::runtime_ended) != 0, "nothing else can have woken it");
          ensure(!now.is_error(), "that was of the one before");
          watch.remove(source, 2);
        }
        reactor.join();
        other.join();
      },
      {.preemption_bound = 2, .old_value_bound = 1});
}

}  // namespace
}  // namespace rouse::model
