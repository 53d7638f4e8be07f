// Models of the ring of records: a reader that copies while the writer overwrites gets whole
// records only, in order.
#include "base/record_ring.hpp"

#include <array>
#include <span>

#include <gtest/gtest.h>

#include "rouse/base/thread.hpp"
#include "rouse/model/model.hpp"

namespace rouse::model {

using namespace internal;
namespace {

using Ring = RecordRing<2>;
using Record = Ring::Record;

/// All that is to know of the record of a position.
Record record_of(std::uint64_t position) { return {position + 1, position + 1}; }

void write(Ring& ring, std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) ring.push(record_of(i));
}

void expect_whole(std::span<const Record> records) {
  for (std::size_t i = 0; i < records.size(); ++i) {
    ensure(records[i][0] == records[i][1], "all words are of one record");
    ensure(records[i][0] == records[0][0] + i, "none is left out, and they are in order");
  }
}

TEST(RecordRingModel, AReaderGetsWholeRecordsInOrder) {
  check([] {
    std::array<Ring::Slot, 2> slots{};
    Ring ring(slots);
    Thread writer([&] { write(ring, 3); });
    std::array<Record, 2> room;
    const std::span<Record> copied = ring.copy(room);
    expect_whole(copied);
    if (!copied.empty()) ensure(copied[0][0] >= 1, "it was written");
    writer.join();
  });
}

TEST(RecordRingModel, AReaderOfFourSlotsGetsWholeRecordsInOrder) {
  check([] {
    std::array<Ring::Slot, 4> slots{};
    Ring ring(slots);
    write(ring, 3);
    Thread writer([&] {
      for (std::uint64_t i = 3; i < 6; ++i) ring.push(record_of(i));
    });
    std::array<Record, 4> room;
    expect_whole(ring.copy(room));
    writer.join();
  });
}

TEST(RecordRingModel, WhoComesAfterTheWriterGetsTheLast) {
  check([] {
    std::array<Ring::Slot, 4> slots{};
    Ring ring(slots);
    Thread writer([&] { write(ring, 5); });
    writer.join();
    std::array<Record, 4> room;
    const std::span<Record> copied = ring.copy(room);
    ensure(copied.size() == 3 && copied[2] == record_of(4), "all but one slot can be read");
    expect_whole(copied);
  });
}

/// Whether the checker finds that a reader is wrong.
template <class Read>
bool is_found(Read read) {
  return explore([read] {
           std::array<Ring::Slot, 2> slots{};
           Ring ring(slots);
           Thread writer([&] { write(ring, 3); });
           read(ring);
           writer.join();
         })
      .finding.has_value();
}

TEST(RecordRingModel, AReaderThatDoesNotLookAgainIsFound) {
  EXPECT_TRUE(is_found([](const Ring& ring) {
    const std::uint64_t end = ring.end();
    if (end == 0) return;
    const Record record = ring.guess(end - 1);
    expect_whole({&record, 1});
  }));
}

TEST(RecordRingModel, AReaderThatKeepsAsManyAsThereAreSlotsIsFound) {
  EXPECT_TRUE(is_found([](const Ring& ring) {
    const std::uint64_t end = ring.end();
    if (end == 0) return;
    const Record record = ring.guess(end - 1);
    if (ring.end() <= end + 1) expect_whole({&record, 1});
  }));
}

}  // namespace
}  // namespace rouse::model
