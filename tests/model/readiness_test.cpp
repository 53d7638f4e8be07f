// Models of an IoSource, the readiness word of a descriptor: events of the kernel against those who
// wait, try, clear and leave.
//
// The kernel here is one number: how many bytes there are to read. It is relaxed: that a reader who
// was told of an event finds the bytes is the word's business.
#include <optional>
#include <utility>

#include <gtest/gtest.h>

#include "rouse/base/cell.hpp"
#include "rouse/base/thread.hpp"
#include "rouse/model/block_on.hpp"
#include "rouse/model/model.hpp"

#include "io/io_source.hpp"
#include "model/waiting.hpp"

namespace rouse::model {

using namespace internal;
namespace {

using io::Interest;
using io::Ready;

/// Waits as the poll functions of a stream do, in the slot of its direction.
struct InSlot {
  using Output = Ready;
  IoSource& source;
  Interest direction = Interest::readable;
  Poll<Ready> poll(Context& cx) {
    Ready now;
    if (!source.poll_ready(direction, cx, now)) return pending;
    return Poll<Ready>::ready(now);
  }
};

/// Waits as a future of an AsyncFd does, in the list.
struct InList {
  using Output = Ready;
  IoSource& source;
  Interest interest = Interest::readable;
  ReadinessWaiter waiter = {};
  Poll<Ready> poll(Context& cx) {
    Ready now;
    if (!waiter.poll(source, interest, cx, now)) return pending;
    return Poll<Ready>::ready(now);
  }
};

/// A descriptor that is watched, and nothing of it is ready.
class Descriptor {
 public:
  Descriptor() {
    source.open(Interest::both);
    source.clear_blocked(source.ready(), Interest::readable);
    source.clear_blocked(source.ready(), Interest::writable);
  }
  ~Descriptor() { source.retire(); }

  void event(std::uint64_t flags) { source.add_ready(source.generation(), flags); }
  void bytes_arrive(int count) {
    bytes_.fetch_add(count, memory_order_relaxed);
    event(Ready::readable);
  }
  /// Reads until so many bytes were read, as a stream does: tries, and waits if there is none.
  template <class Wait>
  void read(int count) {
    while (count > 0) {
      Wait wait{source};
      const Ready seen = block_on(wait);
      const int got = bytes_.load(memory_order_relaxed);
      if (got == 0) {
        source.clear_blocked(seen, Interest::readable);
        continue;
      }
      bytes_.fetch_sub(got, memory_order_relaxed);
      count -= got;
    }
  }

  IoSource source;

 private:
  atomic<int> bytes_{0};
};

TEST(ReadinessModel, AnEventIsNotLostByWhoWaitsInASlot) {
  check([] {
    Descriptor descriptor;
    Thread reactor([&] { descriptor.bytes_arrive(1); });
    descriptor.read<InSlot>(1);
    reactor.join();
  });
}

TEST(ReadinessModel, AnEventIsNotLostByWhoWaitsInTheList) {
  check([] {
    Descriptor descriptor;
    Thread reactor([&] { descriptor.bytes_arrive(1); });
    descriptor.read<InList>(1);
    reactor.join();
  });
}

TEST(ReadinessModel, WhoClearsWhatHeSawLeavesWhatCameMeanwhile) {
  check([] {
    Descriptor descriptor;
    descriptor.event(Ready::readable);  // of bytes that somebody else has read
    Thread reactor([&] {
      descriptor.bytes_arrive(1);
      descriptor.bytes_arrive(1);
    });
    descriptor.read<InSlot>(2);
    reactor.join();
  });
}

TEST(ReadinessModel, AClearOfOneDirectionLeavesTheOther) {
  check([] {
    Descriptor descriptor;
    descriptor.event(Ready::readable | Ready::writable);
    Thread writer(
        [&] { descriptor.source.clear_blocked(descriptor.source.ready(), Interest::writable); });
    descriptor.source.clear_drained(descriptor.source.ready(), Interest::readable);
    writer.join();
    ensure((descriptor.source.ready().word() & Ready::flags) == 0, "both were cleared");
  });
}

TEST(ReadinessModel, TheWakerOfTheLatestPollIsWoken) {
  check([] {
    Descriptor descriptor;
    InSlot in_slot{descriptor.source};
    InList in_list{descriptor.source};
    let_wait(in_slot);
    let_wait(in_list);
    Thread reactor([&] { descriptor.event(Ready::readable); });
    ensure(block_on(in_slot).is_readable());
    ensure(block_on(in_list).is_readable());
    reactor.join();
  });
}

TEST(ReadinessModel, AReaderAndAWriterWaitForTheirOwnEvents) {
  check(
      [] {
        Descriptor descriptor;
        Thread reactor([&] {
          descriptor.event(Ready::writable);
          descriptor.event(Ready::readable);
        });
        Thread writer(
            [&] { ensure(block_on(InSlot{descriptor.source, Interest::writable}).is_writable()); });
        ensure(block_on(InSlot{descriptor.source, Interest::readable}).is_readable());
        reactor.join();
        writer.join();
      },
      {.old_value_bound = 1});
}

TEST(ReadinessModel, AllInTheListAreWoken) {
  check([] {
    Descriptor descriptor;
    InList first{descriptor.source};
    InList second{descriptor.source, Interest::both};
    let_wait(first);
    let_wait(second);
    Thread reactor([&] { descriptor.event(Ready::readable); });
    ensure(block_on(second).is_readable());
    ensure(block_on(first).is_readable());
    reactor.join();
  });
}

TEST(ReadinessModel, WhoLeavesDuringAnEventIsNotTouchedAnyMore) {
  check([] {
    Descriptor descriptor;
    std::optional<InList> leaving(std::in_place, descriptor.source);
    InList staying{descriptor.source};
    (void)is_ready_for(make_ref<ParkedThread>(), *leaving);
    let_wait(staying);
    Thread reactor([&] { descriptor.event(Ready::readable); });
    leaving.reset();
    ensure(block_on(staying).is_readable());
    reactor.join();
  });
}

TEST(ReadinessModel, TwoEventsAddUp) {
  check([] {
    Descriptor descriptor;
    Thread other([&] { descriptor.event(Ready::read_closed); });
    descriptor.event(Ready::readable);
    other.join();
    const Ready now = descriptor.source.ready();
    ensure(now.is_readable() && now.is_read_closed());
  });
}

TEST(ReadinessModel, AnEventOfADescriptorThatIsGoneChangesNothing) {
  check([] {
    Descriptor descriptor;
    const std::uint64_t generation = descriptor.source.generation();
    Thread reactor([&] { descriptor.source.add_ready(generation, Ready::error); });
    descriptor.source.retire();
    descriptor.source.open(Interest::readable);  // the next one's, in the same slot
    const std::uint64_t flags = descriptor.source.ready().word() & Ready::flags;
    ensure(flags == Ready::readable, "as if it were new");
    reactor.join();
    ensure((descriptor.source.ready().word() & Ready::flags) == flags, "also afterwards");
  });
}

TEST(ReadinessModel, AClearOfADescriptorThatIsGoneChangesNothing) {
  check([] {
    Descriptor descriptor;
    descriptor.event(Ready::readable);
    const Ready seen = descriptor.source.ready();
    Thread late([&] { descriptor.source.clear_blocked(seen, Interest::readable); });
    descriptor.source.retire();
    descriptor.source.open(Interest::readable);
    late.join();
    ensure(descriptor.source.ready().is_readable(), "it counts as ready until it is tried");
  });
}

TEST(ReadinessModel, WhoWaitsIsWokenWhenTheRuntimeEnds) {
  check([] {
    Descriptor descriptor;
    Cell<int> data{0};
    Thread runtime([&] {
      data.write() = 1;
      descriptor.source.end();
    });
    const Ready now = block_on(InSlot{descriptor.source});
    ensure((now.word() & Ready::runtime_ended) != 0);
    ensure(data.read() == 1, "what was done before the end");
    InList in_list{descriptor.source};
    ensure(is_ready(in_list), "nobody waits any more");
    runtime.join();
  });
}

TEST(ReadinessModel, AnEventAgainstTheEndOfTheRuntimeHidesNeither) {
  check(
      [] {
        Descriptor descriptor;
        InList waiting{descriptor.source, Interest::writable};
        let_wait(waiting);
        Thread reactor([&] { descriptor.event(Ready::readable); });
        Thread runtime([&] { descriptor.source.end(); });
        const Ready now = block_on(waiting);
        ensure((now.word() & Ready::runtime_ended) != 0, "nothing else can have woken it");
        reactor.join();
        runtime.join();
        ensure(descriptor.source.ready().is_readable());
      },
      {.old_value_bound = 1});
}

}  // namespace
}  // namespace rouse::model
