// Models of the lists through which free blocks go from thread to thread: one thread shares its
// own, others return some, and any may take all.
#include <gtest/gtest.h>

#include "rouse/base/cell.hpp"
#include "rouse/base/thread.hpp"
#include "rouse/model/model.hpp"

#include "base/block_heap.hpp"

namespace rouse::model {

using namespace internal;
namespace {

using blocks::Block;
using blocks::SharedBlocks;

/// Blocks, and what was done with each of them before it was freed.
struct Memory {
  Block blocks[3] = {};
  Cell<int> used[3];
  SharedBlocks shared;

  Block* use(int i) {
    used[i].write() = 1;
    blocks[i].next = nullptr;
    return &blocks[i];
  }
  void give(int i) {
    Block* block = use(i);
    shared.add(block, block);
  }
  void give_if_empty(int i) {
    Block* block = use(i);
    if (!shared.add_if_empty(block)) shared.add(block, block);
  }
  /// How many it took. Each is as its last user left it, and this one's alone.
  int take() {
    int count = 0;
    for (const Block* block = shared.take_all(); block != nullptr; block = block->next) {
      int& last_use = used[block - blocks].write();
      ensure(last_use == 1, "it was freed, and taken once");
      last_use = 2;
      ++count;
    }
    return count;
  }
};

TEST(BlockPoolModel, EveryBlockIsTakenOnceByOneOfTwo) {
  check([] {
    Memory memory;
    int taken = 0;
    Thread owner([&] { memory.give_if_empty(0); });
    Thread other([&] {
      memory.give(1);
      memory.give(2);
    });
    Thread raider([&] { taken = memory.take(); });
    const int here = memory.take();
    owner.join();
    other.join();
    raider.join();
    ensure(here + taken + memory.take() == 3);
  });
}

TEST(BlockPoolModel, WhatOneTookAndGaveBackIsThereForTheNext) {
  check([] {
    Memory memory;
    memory.give(0);
    memory.give(1);
    // Sorts what it found and returns the rest, at once.
    Thread raider([&] {
      Block* const first = memory.shared.take_all();
      if (first == nullptr) return;
      Block* last = first;
      while (last->next != nullptr) last = last->next;
      memory.shared.add(first, last);
    });
    Thread other([&] { memory.give(2); });
    const int here = memory.take();
    raider.join();
    other.join();
    ensure(here + memory.take() == 3);
  });
}

TEST(BlockPoolModel, WhatOneTookAndPutBackInPartIsThereForTheNext) {
  check([] {
    Memory memory;
    memory.give(0);
    memory.give(1);
    int taken = 0;
    Thread raider([&] {
      Block* const first = memory.shared.take_all();
      if (first == nullptr) return;
      ++taken;
      if (first->next != nullptr) memory.shared.put_back(first->next);
    });
    Thread other([&] { memory.give(2); });
    const int here = memory.take();
    raider.join();
    other.join();
    ensure(here + taken + memory.take() == 3);
  });
}

}  // namespace
}  // namespace rouse::model
