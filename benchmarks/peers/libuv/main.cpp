#include <array>

#include "rows.hpp"
#include "support/programs.hpp"

namespace {

constexpr auto rows = std::to_array<bench::Row>({
    {"timer_cancel", timer_cancel},
    {"timer_fire", timer_fire},
    {"wake_latency", wake_latency},
});

}  // namespace

int main(int argc, char** argv) { return bench::run_program(argc, argv, rows, serve); }
