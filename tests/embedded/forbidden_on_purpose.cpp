// What check_freestanding.py must refuse, each kind once. Compiled, never linked or run.
#include <cstdlib>
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <typeinfo>
#include <unistd.h>

struct Base {
  virtual ~Base();
};
struct Derived : Base {};
extern thread_local int other_thread_local;
Base global_with_destructor;

int forbidden(int n, __int128* wide) {
  static Base guarded = *new Derived;
  const Base to_unwind;
  std::free(std::malloc(static_cast<std::size_t>(n)));
  if (pthread_self() == 0) throw n;
  __int128 copy;
  __atomic_load(wide, &copy, __ATOMIC_SEQ_CST);
  return typeid(guarded).before(typeid(to_unwind)) + other_thread_local + static_cast<int>(copy);
}
