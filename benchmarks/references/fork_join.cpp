#include "support/fork_join.hpp"

#include <cstddef>

#include "references/rows.hpp"
#include "support/measure.hpp"

namespace bench {
namespace {

[[gnu::noinline]] long call_fib(long n) {
  if (n < 2) return n;
  const long first = call_fib(n - 1);
  const long second = call_fib(n - 2);
  keep(second);  // or the compiler makes a loop of this call
  return first + second;
}

[[gnu::noinline]] long call_skynet(long first, long leaves) {
  if (leaves == 1) return first;
  const long step = leaves / skynet_degree;
  long sum = 0;
  for (long i = 0; i < skynet_degree; ++i) sum += call_skynet(first + i * step, step);
  return sum;
}

[[gnu::noinline]] long call_queens(Board board, long row, long n) {
  if (row == n) return 1;
  long sum = 0;
  for (long column = 0; column < n; ++column) {
    if (is_attacked(board, row, column)) continue;
    sum += call_queens(with_queen(board, row, column), row + 1, n);
  }
  return sum;
}

[[gnu::noinline]] void call_multiply(Square c, Square a, Square b) {
  if (c.size() <= small_square) return multiply_small(c, a, b);
  for (std::size_t k = 0; k < 2; ++k) {
    for (std::size_t i = 0; i < 2; ++i) {
      for (std::size_t j = 0; j < 2; ++j) {
        call_multiply(c.quarter(i, j), a.quarter(i, k), b.quarter(k, j));
      }
    }
  }
}

}  // namespace

Values fib(unsigned workers, long n) {
  if (workers != 1) return {};
  return {mean_ns(calls_of_fib(n), [&] { check(call_fib(n) == value_of_fib(n)); })};
}

Values skynet(unsigned workers, long n) {
  if (workers != 1) return {};
  return {mean_ns(tasks_of_skynet(n), [&] { check(call_skynet(0, n) == value_of_skynet(n)); })};
}

Values nqueens(unsigned workers, long n) {
  if (workers != 1) return {};
  return {mean_ns(1, [&] { check(call_queens({}, 0, n) == value_of_queens(n)); }) / 1e6};
}

Values matmul(unsigned workers, long n) {
  if (workers != 1) return {};
  Matrices matrices(n);
  long runs = 0;
  const double ns = mean_ns(1, [&] {
    call_multiply(matrices.c(), matrices.a(), matrices.b());
    ++runs;
  });
  matrices.check_product(runs);
  return {ns / 1e6};
}

}  // namespace bench
