#include "rows.hpp"

int main(int argc, char** argv) {
  using namespace bench;
  static constexpr Row rows[] = {
      {"child_await", child_await},
      {"ready_await", ready_await},
      {"pending_poll", pending_poll},
      {"generator_next", generator_next},
      {"fib", fib},
      {"skynet", skynet},
      {"nqueens", nqueens},
      {"matmul", matmul},
      {"spawn_await", spawn_await},
      {"spawn_batch", spawn_batch},
      {"yield", yield},
      {"yield_watched", yield_watched},
      {"dump", dump},
      {"ping_pong_oneshot", ping_pong_oneshot},
      {"ping_pong_mpsc", ping_pong_mpsc},
      {"mpsc_1x1", mpsc_1x1},
      {"mpsc_4x1", mpsc_4x1},
      {"mutex", mutex},
      {"timer_cancel", timer_cancel},
      {"timer_fire", timer_fire},
      {"idle_task_bytes", idle_task_bytes},
      {"sleeping_task_bytes", sleeping_task_bytes},
      {"wake_latency", wake_latency},
      {"start_stop", start_stop},
  };
  return run_program(argc, argv, rows, serve);
}
