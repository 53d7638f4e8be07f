#include <array>

#include "references/epoll_loop.hpp"
#include "references/rows.hpp"
#include "support/programs.hpp"

namespace {

constexpr auto rows = std::to_array<bench::Row>({
    {"fib", bench::fib},
    {"skynet", bench::skynet},
    {"nqueens", bench::nqueens},
    {"matmul", bench::matmul},
    {"spawn_await", bench::spawn_await},
    {"spawn_batch", bench::spawn_batch},
    {"yield", bench::yield},
    {"child_await", bench::child_await},
    {"ping_pong_oneshot", bench::ping_pong},
    {"ping_pong_mpsc", bench::ping_pong},
    {"mpsc_1x1", bench::mpsc_1x1},
    {"mutex", bench::mutex},
    {"wake_latency", bench::wake_latency},
});

void serve(bool http, unsigned workers) {
  if (workers == 1) bench::serve_with_epoll(http);
}

}  // namespace

int main(int argc, char** argv) { return bench::run_program(argc, argv, rows, serve); }
