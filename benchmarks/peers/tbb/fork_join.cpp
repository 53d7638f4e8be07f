// Fork/join is what TBB is for: it has these rows only. The last child of a call runs on the
// caller's own stack.
#include "support/fork_join.hpp"

#include <array>
#include <cstddef>
#include <tbb/parallel_invoke.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>
#include <vector>

#include "support/measure.hpp"
#include "support/programs.hpp"

namespace bench {
namespace {

using Values = std::vector<double>;

long fork_fib(long n) {
  if (n < 2) return n;
  long a = 0;
  long b = 0;
  tbb::parallel_invoke([&] { a = fork_fib(n - 1); }, [&] { b = fork_fib(n - 2); });
  return a + b;
}

template <std::size_t Size>
long sum_of(const std::array<long, Size>& values, std::size_t count) {
  long sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += values[i];
  return sum;
}

long fork_skynet(long first, long leaves) {
  if (leaves == 1) return first;
  std::array<long, skynet_degree> sums;
  const auto child = [&sums, first, step = leaves / skynet_degree](std::size_t i) {
    return [&sums, i, first, step] {
      sums[i] = fork_skynet(first + static_cast<long>(i) * step, step);
    };
  };
  tbb::task_group children;
  for (std::size_t i = 0; i + 1 < sums.size(); ++i) children.run(child(i));
  children.run_and_wait(child(sums.size() - 1));
  return sum_of(sums, sums.size());
}

long fork_queens(const Board& board, long row, long n) {
  if (row == n) return 1;
  Board columns;
  std::size_t count = 0;
  for (long column = 0; column < n; ++column) {
    if (!is_attacked(board, row, column)) columns[count++] = static_cast<std::uint8_t>(column);
  }
  if (count == 0) return 0;
  std::array<long, std::tuple_size_v<Board>> solutions;
  const auto child = [&](std::size_t i) {
    return [&solutions, i, row, n, next = with_queen(board, row, columns[i])] {
      solutions[i] = fork_queens(next, row + 1, n);
    };
  };
  tbb::task_group children;
  for (std::size_t i = 0; i + 1 < count; ++i) children.run(child(i));
  children.run_and_wait(child(count - 1));
  return sum_of(solutions, count);
}

void multiply(Square c, Square a, Square b) {
  if (c.size() <= small_square) return multiply_small(c, a, b);
  for (std::size_t k = 0; k < 2; ++k) {  // both add to all of c
    const auto product = [&](std::size_t i, std::size_t j) {
      return [=] { multiply(c.quarter(i, j), a.quarter(i, k), b.quarter(k, j)); };
    };
    tbb::parallel_invoke(product(0, 0), product(0, 1), product(1, 0), product(1, 1));
  }
}

template <class Work>
double mean_ns_in_arena(unsigned workers, long operations, Work work) {
  tbb::task_arena arena(static_cast<int>(workers));
  return mean_ns(operations, [&] { arena.execute(work); });
}

Values fib(unsigned workers, long n) {
  return {
      mean_ns_in_arena(workers, calls_of_fib(n), [n] { check(fork_fib(n) == value_of_fib(n)); })};
}

Values skynet(unsigned workers, long n) {
  return {mean_ns_in_arena(workers, tasks_of_skynet(n),
                           [n] { check(fork_skynet(0, n) == value_of_skynet(n)); })};
}

Values nqueens(unsigned workers, long n) {
  const double ns = mean_ns_in_arena(
      workers, 1, [n] { check(fork_queens(Board{}, 0, n) == value_of_queens(n)); });
  return {ns / 1e6};
}

Values matmul(unsigned workers, long n) {
  Matrices matrices(n);
  long runs = 0;
  const double ns = mean_ns_in_arena(workers, 1, [&] {
    multiply(matrices.c(), matrices.a(), matrices.b());
    ++runs;
  });
  matrices.check_product(runs);
  return {ns / 1e6};
}

constexpr auto rows = std::to_array<Row>(
    {{"fib", fib}, {"skynet", skynet}, {"nqueens", nqueens}, {"matmul", matmul}});

}  // namespace
}  // namespace bench

int main(int argc, char** argv) { return bench::run_program(argc, argv, bench::rows); }
