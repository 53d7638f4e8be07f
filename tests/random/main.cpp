// Runs random programs (world.hpp says what they may do), one after the other, until the time is
// over or one fails: crashes, hangs, or leaves something behind. Then it says which one.
// usage: random_program [SECONDS] [--seed N [--times N]] [--limit SECONDS] [--without STEP]
// [--here]
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <random>
#include <string>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "random/counted.hpp"
#include "random/plan.hpp"
#include "random/run.hpp"
#include "random/world.hpp"
#include "support/sanitizer.hpp"

namespace rouse::random_program {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

struct Options {
  std::chrono::seconds time = 60s;
  std::chrono::seconds limit = 60s;  ///< of one program
  std::uint64_t seed = 0;            ///< the first one
  unsigned long times = 0;           ///< so often that one only; 0: as many as there is time for
  bool here = false;                 ///< in this process, for a debugger
};

/// What the process that runs the programs tells the one that watches it.
struct Shared {
  std::atomic<std::uint64_t> seed;
  std::atomic<std::uint64_t> done;
};

/// Aborts if a program takes too long.
[[noreturn]] void watch(const Options& options, const Shared& shared) {
  std::uint64_t last = UINT64_MAX;
  auto since = Clock::now();
  for (;; std::this_thread::sleep_for(100ms)) {
    const std::uint64_t done = shared.done.load(std::memory_order_relaxed);
    if (std::exchange(last, done) != done) {
      since = Clock::now();
    } else if (Clock::now() - since > options.limit) {
      const Plan plan(shared.seed.load(std::memory_order_relaxed));
      std::fprintf(stderr, "random program: it hangs. %s\n", plan.text().c_str());
      Part::print_all();
      std::abort();
    }
  }
}

[[maybe_unused]] std::size_t count_threads() {
  const std::filesystem::directory_iterator threads("/proc/self/task");
  return static_cast<std::size_t>(std::distance(begin(threads), end(threads)));
}

void run_all(const Options& options, Shared& shared) {
  std::thread([&] { watch(options, shared); }).detach();
  const auto end = Clock::now() + options.time;
  for (std::uint64_t seed = options.seed;; ++seed) {
    const std::uint64_t done = shared.done.load(std::memory_order_relaxed);
    if (options.times == 0 ? Clock::now() >= end : done == options.times) return;
    const Plan plan(options.times == 0 ? seed : options.seed);
    shared.seed.store(plan.seed, std::memory_order_relaxed);
    run(plan);
    shared.done.store(done + 1, std::memory_order_relaxed);
  }
}

int report(const char* program, const Options& options, const Shared& shared, int status) {
  const auto done = static_cast<unsigned long long>(shared.done.load(std::memory_order_relaxed));
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
    std::printf("ok: %llu random programs, from seed %llu\n", done,
                static_cast<unsigned long long>(options.seed));
    return 0;
  }
  const Plan plan(shared.seed.load(std::memory_order_relaxed));
  std::fprintf(
      stderr,
      "FAILED after %llu programs, with %s %d: %s\nrepeat it: %s --seed %llu --times 1000\n", done,
      WIFSIGNALED(status) ? "signal" : "status",
      WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status), plan.text().c_str(), program,
      static_cast<unsigned long long>(plan.seed));
  return 1;
}

int run_and_watch(const char* program, const Options& options) {
  void* const page =
      ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return 2;
  auto& shared = *new (page) Shared();
  if (options.here) {
    run_all(options, shared);
    return 0;
  }
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child < 0) return 2;
  if (child == 0) {
    run_all(options, shared);
    if constexpr (test::address_sanitizer) {
      // Nobody joins the threads of a runtime that ended in the background: the check for leaks is
      // to see none in the midst of its end. Left are this one and `watch`.
      while (count_threads() > 2) std::this_thread::sleep_for(1ms);
    }
    std::exit(0);  // with the check for leaks
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return report(program, options, shared, status);
}

bool parse(int argc, char** argv, Options& options) {
  options.seed = std::random_device()();
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name == "--here") {
      options.here = true;
      continue;
    }
    const bool is_named = name.starts_with("--");
    if (is_named && ++i == argc) return false;
    if (name == "--without") {
      leave_out(argv[i]);
      continue;
    }
    char* end = nullptr;
    const unsigned long long value = std::strtoull(argv[i], &end, 10);
    if (end == argv[i] || *end != '\0') return false;
    if (!is_named) {
      options.time = std::chrono::seconds(value);
    } else if (name == "--seed") {
      options.seed = value;
    } else if (name == "--times") {
      options.times = value;
    } else if (name == "--limit") {
      options.limit = std::chrono::seconds(value);
    } else {
      return false;
    }
  }
  return true;
}

}  // namespace
}  // namespace rouse::random_program

int main(int argc, char** argv) {
  rouse::random_program::Options options;
  if (!rouse::random_program::parse(argc, argv, options)) {
    std::fprintf(stderr,
                 "usage: random_program [SECONDS] [--seed N [--times N]] [--limit SECONDS] "
                 "[--without STEP] [--here]\n");
    return 2;
  }
  return rouse::random_program::run_and_watch(argv[0], options);
}
