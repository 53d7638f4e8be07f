// Models of what passes bytes between two tasks: BytePipe, and BiLock, which the halves of a split
// stream share.
#include "rouse/io/internal/byte_pipe.hpp"

#include <array>
#include <cstddef>
#include <utility>

#include <gtest/gtest.h>

#include "rouse/base/cell.hpp"
#include "rouse/base/thread.hpp"
#include "rouse/io/split.hpp"
#include "rouse/model/block_on.hpp"
#include "rouse/model/model.hpp"

#include "model/waiting.hpp"

namespace rouse::model {

using namespace internal;
namespace {

struct ReadByte {
  using Output = int;
  BytePipe& pipe;
  /// -1: the end.
  Poll<int> poll(Context& cx) {
    std::array<std::byte, 1> byte{};
    const auto polled = pipe.poll_read(cx, byte);
    if (polled.is_pending()) return pending;
    return Poll<int>::ready(*polled.value() == 0 ? -1 : std::to_integer<int>(byte[0]));
  }
};
struct WriteByte {
  using Output = bool;
  BytePipe& pipe;
  int value;
  /// False: nobody reads any more.
  Poll<bool> poll(Context& cx) {
    const std::array<std::byte, 1> byte{static_cast<std::byte>(value)};
    const auto polled = pipe.poll_write(cx, byte);
    if (polled.is_pending()) return pending;
    return Poll<bool>::ready(polled.value().has_value());
  }
};

TEST(BytePipeModel, BytesArriveInOrderThroughAFullPipe) {
  check([] {
    BytePipe pipe(1);
    Thread writer([&] {
      for (int i = 0; i < 3; ++i) ensure(block_on(WriteByte{pipe, i}));
    });
    for (int i = 0; i < 3; ++i) ensure(block_on(ReadByte{pipe}) == i);
    writer.join();
  });
}

TEST(BytePipeModel, AByteIsPublishedWithAllThatWasDoneBefore) {
  check([] {
    BytePipe pipe(1);
    Cell<int> data{0};
    Thread writer([&] {
      data.write() = 1;
      (void)block_on(WriteByte{pipe, 1});
    });
    ensure(block_on(ReadByte{pipe}) == 1);
    ensure(data.read() == 1);
    writer.join();
  });
}

TEST(BytePipeModel, TheRoomOfAByteIsGivenBackAfterItWasRead) {
  check([] {
    BytePipe pipe(1);
    Cell<int> data{0};
    {
      WriteByte first{pipe, 1};
      ensure(is_ready(first), "there is room");
    }
    Thread reader([&] {
      data.write() = 1;
      (void)block_on(ReadByte{pipe});
    });
    ensure(block_on(WriteByte{pipe, 2}));
    ensure(data.read() == 1);
    reader.join();
  });
}

TEST(BytePipeModel, AllThatWasWrittenIsReadBeforeTheEnd) {
  check([] {
    BytePipe pipe(2);
    Thread writer([&] {
      ensure(block_on(WriteByte{pipe, 1}));
      pipe.end_writing();
    });
    ensure(block_on(ReadByte{pipe}) == 1);
    ensure(block_on(ReadByte{pipe}) == -1);
    writer.join();
  });
}

TEST(BytePipeModel, AWriterThatWaitsForRoomIsToldThatNobodyReads) {
  check([] {
    BytePipe pipe(1);
    {
      WriteByte first{pipe, 1};
      ensure(is_ready(first), "there is room");
    }
    Thread reader([&] { pipe.end_reading(); });
    ensure(!block_on(WriteByte{pipe, 2}));
    reader.join();
  });
}

/// One half of something that only one may touch at a time.
struct Half {
  using Output = void;
  internal::BiLock& lock;
  Cell<int>& guarded;
  Poll<void> poll(Context& cx) {
    if (!lock.poll_lock(cx)) return pending;
    guarded.write() += 1;
    lock.unlock();
    return Poll<void>::ready();
  }
};

TEST(BiLockModel, OneHalfAtATimeAndNoneWaitsForEver) {
  check([] {
    internal::BiLock lock;
    Cell<int> guarded{0};
    const auto use = [&] {
      for (int i = 0; i < 2; ++i) block_on(Half{lock, guarded});
    };
    Thread other(use);
    use();
    other.join();
    ensure(guarded.read() == 4);
  });
}

}  // namespace
}  // namespace rouse::model
