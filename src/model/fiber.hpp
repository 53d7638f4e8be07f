// Fiber: a stack of its own and the registers of code that does not run right now. The model's
// threads are fibers, so one execution runs on one thread of the system and is the same each time.
//
// What belongs to a thread besides its stack is switched too: the program's thread_local variables
// (each fiber begins with their initial values) and the exceptions it is handling. Not switched are
// thread_locals of shared libraries and errno.
//
// A fiber that has not ended may simply be begun anew: nothing on its stack is destroyed.
#pragma once

#include <cstddef>
#include <memory>

namespace rouse::model {

class Fiber {
 public:
  using Entry = void (*)();  // never returns: it switches to another fiber when it is done

  /// Stands for the code that is running now.
  Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;
  ~Fiber();

  /// The next switch to it calls `entry` on its own stack.
  void begin(Entry entry);
  /// Stops here, which is `this` fiber, and goes on there. Returns when somebody switches back.
  void switch_to(Fiber& next);
  /// Goes on there, never to come back.
  [[noreturn]] void leave_to(Fiber& next);

 private:
  struct ThreadState;

  void* stack_pointer_ = nullptr;
  char* stack_ = nullptr;  // null: the system's own
  std::unique_ptr<ThreadState> thread_state_;
};

}  // namespace rouse::model
