#include <array>

#include "rows.hpp"
#include "support/programs.hpp"

namespace {

/// An io_context has no workers of its own: without a thread nothing runs.
template <bench::RunRow run>
Values with_threads(unsigned workers, long n) {
  return workers == 0 ? Values() : run(workers, n);
}

constexpr auto rows = std::to_array<bench::Row>({
    {"spawn_await", with_threads<spawn_await>},
    {"spawn_batch", with_threads<spawn_batch>},
    {"yield", with_threads<yield>},
    {"ping_pong_mpsc", with_threads<ping_pong_mpsc>},
    {"mpsc_1x1", with_threads<mpsc_1x1>},
    {"mpsc_4x1", with_threads<mpsc_4x1>},
    {"timer_cancel", with_threads<timer_cancel>},
    {"timer_fire", with_threads<timer_fire>},
    {"idle_task_bytes", with_threads<idle_task_bytes>},
    {"sleeping_task_bytes", with_threads<sleeping_task_bytes>},
    {"wake_latency", with_threads<wake_latency>},
    {"start_stop", with_threads<start_stop>},
});

}  // namespace

int main(int argc, char** argv) { return bench::run_program(argc, argv, rows, serve); }
